/* SPDX-License-Identifier: Apache-2.0
 * Preloaded into a program: malloc call number FAIL_AT and all later ones find no memory. */
#include <stddef.h>
#include <stdlib.h>

extern void* __libc_malloc(size_t bytes); /* of glibc */

void* malloc(size_t bytes) {
  static long calls = 0, fail_at = -1;
  if (fail_at < 0) {
    const char* text = getenv("FAIL_AT");
    fail_at = text != NULL ? atol(text) : 0;
  }
  ++calls;
  return fail_at > 0 && calls >= fail_at ? NULL : __libc_malloc(bytes);
}
