/* SPDX-License-Identifier: Apache-2.0
 * Calls from a Cortex-M to its debugger or emulator (Arm, "Semihosting for AArch32 and AArch64").
 */
#ifndef EMBERT_TARGETS_CORTEX_M_SEMIHOSTING_H_
#define EMBERT_TARGETS_CORTEX_M_SEMIHOSTING_H_

#include <stddef.h>
#include <stdint.h>

enum {
  SEMIHOSTING_WRITE0 = 0x04,      /* argument: a text that ends with zero */
  SEMIHOSTING_GET_CMDLINE = 0x15, /* argument: {buffer, size}; size becomes the length */
  SEMIHOSTING_EXIT = 0x18,        /* argument: one of the reasons below */
  SEMIHOSTING_REASON_ERROR = 0x20023,
  SEMIHOSTING_REASON_DONE = 0x20026
};

static inline intptr_t semihosting_call(int operation, intptr_t argument) {
  register intptr_t r0 __asm__("r0") = operation;
  register intptr_t r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

#endif /* EMBERT_TARGETS_CORTEX_M_SEMIHOSTING_H_ */
