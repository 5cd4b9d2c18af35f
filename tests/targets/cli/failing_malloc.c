/* SPDX-License-Identifier: Apache-2.0
 * Preloaded into a program: malloc call number FAIL_AT of main and all later ones find no memory. Calls before main belong
 * to the loader and to libraries' initialisers, which nobody can catch. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

typedef int (*main_function)(int, char**, char**);
typedef int (*start_function)(main_function, int, char**, void (*)(void), void (*)(void),
                              void (*)(void), void*);

extern void* __libc_malloc(size_t bytes); /* of glibc */

static main_function program;
static long fail_at; /* 0: never */

static int counted_main(int argc, char** argv, char** environment) {
  const char* text = getenv("FAIL_AT");
  fail_at = text != NULL ? atol(text) : 0;
  return program(argc, argv, environment);
}

/* glibc's, which calls the initialisers and then main. */
int __libc_start_main(main_function main, int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void* stack_end) {
  start_function start;
  *(void**)&start = dlsym(RTLD_NEXT, "__libc_start_main"); /* as POSIX shows it */
  program = main;
  return start(counted_main, argc, argv, init, fini, loader_fini, stack_end);
}

void* malloc(size_t bytes) {
  static long calls = 0;
  if (fail_at > 0) ++calls;
  return fail_at > 0 && calls >= fail_at ? NULL : __libc_malloc(bytes);
}
