/* SPDX-License-Identifier: Apache-2.0
 * Preloaded into a program, counts its allocations from main() on.
 * EMBERT_STACKS=FILE: writes a line for each call stack that allocates for the first time: the
 * number of the allocation and the frames, innermost first, as module+offset. EMBERT_FAIL_AT=N:
 * allocation N finds no memory, and FILE of EMBERT_FAILED=FILE is made. EMBERT_FAIL_FROM=N: nor
 * does any later one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void* __libc_malloc(size_t bytes); /* of glibc */
extern void* __libc_calloc(size_t count, size_t bytes);
extern void* __libc_realloc(void* old, size_t bytes);
extern void* __libc_memalign(size_t alignment, size_t bytes);

#define MAX_FRAMES 64
#define SLOTS (1u << 16)

static long allocations, fail_at;
static int counting, all_later, file = -1;
static const char* failed;   /* the file to make, or NULL */
static uint64_t seen[SLOTS]; /* hashes of stacks; 0: none */
static __thread int inside __attribute__((tls_model("initial-exec")));

static int is_new(void* const* frames, int count) {
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  for (int i = 0; i < count; ++i) hash = (hash ^ (uintptr_t)frames[i]) * 1099511628211u;
  hash |= 1;
  for (uint32_t slot = (uint32_t)(hash >> 32) % SLOTS;; slot = (slot + 1) % SLOTS) {
    if (seen[slot] == hash) return 0;
    if (seen[slot] != 0) continue;
    seen[slot] = hash;
    return 1;
  }
}

static void write_stack(void* const* frames, int count, long number) {
  char line[MAX_FRAMES * 64];
  size_t used = (size_t)snprintf(line, sizeof line, "%ld", number);
  for (int i = 0; i < count && used + 64 < sizeof line; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) == 0) continue;
    const char* name = strrchr(info.dli_fname, '/');
    const unsigned long offset = (unsigned long)((char*)frames[i] - (char*)info.dli_fbase);
    used += (size_t)snprintf(line + used, 60, " %.40s+%lx",
                             name == NULL ? info.dli_fname : name + 1, offset);
  }
  line[used++] = '\n';
  if (write(file, line, used) < 0) _exit(99);
}

/* Whether this allocation has to fail. */
static int fails(void) {
  if (!counting || inside) return 0;
  const long number = __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
  if (file >= 0) {
    void* frames[MAX_FRAMES];
    inside = 1;
    const int count = backtrace(frames, MAX_FRAMES);
    if (count > 2 && is_new(frames + 2, count - 2)) write_stack(frames + 2, count - 2, number);
    inside = 0;
  }
  if (fail_at == 0 || number < fail_at || (number > fail_at && !all_later)) return 0;
  if (failed != NULL) close(open(failed, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t bytes) { return fails() ? NULL : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return fails() ? NULL : __libc_calloc(count, bytes); }
void* realloc(void* old, size_t bytes) { return fails() ? NULL : __libc_realloc(old, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) {
  return fails() ? NULL : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** block, size_t alignment, size_t bytes) {
  if (fails()) return ENOMEM;
  *block = __libc_memalign(alignment, bytes);
  return *block == NULL ? ENOMEM : 0;
}

typedef int main_function(int, char**, char**);
static main_function* program_main;

/* A child that was forked has no part in the count. */
static void stop_counting(void) { counting = 0; }

static int counted_main(int count, char** arguments, char** environment) {
  const char* from = getenv("EMBERT_FAIL_FROM");
  const char* number = from != NULL ? from : getenv("EMBERT_FAIL_AT");
  const char* path = getenv("EMBERT_STACKS");
  void* frame[1];
  backtrace(frame, 1); /* loads the unwinder, which allocates */
  failed = getenv("EMBERT_FAILED");
  fail_at = number == NULL ? 0 : atol(number);
  all_later = from != NULL;
  if (path != NULL) file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  unsetenv("LD_PRELOAD");                    /* of programs that this one starts */
  pthread_atfork(NULL, NULL, stop_counting); /* may allocate */
  counting = 1;
  return program_main(count, arguments, environment);
}

int __libc_start_main(main_function* function, int count, char** arguments, main_function* init,
                      void (*fini)(void), void (*loader_fini)(void), void* stack_end) {
  __typeof__(__libc_start_main)* libc_start_main = NULL;
  void* symbol = dlsym(RTLD_NEXT, "__libc_start_main");
  memcpy(&libc_start_main, &symbol, sizeof symbol);
  program_main = function;
  return libc_start_main(counted_main, count, arguments, init, fini, loader_fini, stack_end);
}
