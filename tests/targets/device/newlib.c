/* SPDX-License-Identifier: Apache-2.0
 * The system functions that newlib and GoogleTest need in test programs on an emulated Cortex-M.
 * Newlib's semihosting library (rdimon) provides files, standard streams and time; this file
 * provides the rest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "targets/cortex-m/semihosting.h"

void initialise_monitor_handles(void);
void __libc_init_array(void);
int main(int argc, char** argv);
__attribute__((noreturn)) void _start(void);
__attribute__((noreturn)) void embert_fault(uint32_t exception);

enum { MAX_ARGUMENTS = 16 };

void _start(void) {
  static char line[1024];
  static char* arguments[MAX_ARGUMENTS + 1];
  struct {
    char* buffer;
    int size;
  } command_line = {line, sizeof line};
  int count = 0;
  initialise_monitor_handles();
  __libc_init_array();
  if (semihosting_call(SEMIHOSTING_GET_CMDLINE, (intptr_t)&command_line) == 0) {
    for (char* word = strtok(line, " "); word != NULL && count < MAX_ARGUMENTS;
         word = strtok(NULL, " ")) {
      arguments[count++] = word;
    }
  }
  exit(main(count, arguments));
}

void embert_fault(uint32_t exception) {
  static char text[] = "\nThe processor took exception 00\n";
  text[sizeof text - 4] = (char)('0' + exception / 10 % 10);
  text[sizeof text - 3] = (char)('0' + exception % 10);
  semihosting_call(SEMIHOSTING_WRITE0, (intptr_t)text);
  semihosting_call(SEMIHOSTING_EXIT, SEMIHOSTING_REASON_ERROR);
  for (;;) {
  }
}

/* Replaces the compiler's start files, which define a `_start` of their own. */
void* __dso_handle = NULL;
void _init(void) {}
void _fini(void) {}

int mkdir(const char* path, mode_t mode) {
  (void)path, (void)mode;
  errno = ENOSYS;
  return -1;
}
