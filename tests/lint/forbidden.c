/* SPDX-License-Identifier: Apache-2.0
 * Breaks every rule of check_symbols.py, which must find it; compiled, never linked. */
#include <stdio.h>
#include <stdlib.h>

static int counter;

double forbidden(double value);

double forbidden(double value) {
  void* memory = malloc((size_t)++counter);
  printf("%p\n", memory);
  return value * 3.5 + counter;
}
