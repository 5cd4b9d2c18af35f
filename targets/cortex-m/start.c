/* SPDX-License-Identifier: Apache-2.0
 * Starts any Cortex-M image: from reset to `_start`, which the image or its C library defines. The
 * linker script defines the symbols. The vectors end with the processor's own exceptions, because
 * no image uses interrupts of the board.
 */
#include <stdint.h>

extern uint8_t embert_stack_top[];
/* Initialised data and its copy in flash; empty if the image is loaded in place. */
extern uint32_t embert_data_load[], embert_data_begin[], embert_data_end[];
extern uint32_t embert_bss_begin[], embert_bss_end[];

__attribute__((noreturn)) void _start(void);
__attribute__((noreturn)) void embert_reset(void);
/* Handles an unexpected exception: 3 and 4 are memory faults, 6 is an instruction fault. The image
 * defines it. */
__attribute__((noreturn)) void embert_fault(uint32_t exception);

static volatile uint32_t* const kCoprocessorAccess = (volatile uint32_t*)0xE000ED88u;

void embert_reset(void) {
  /* Enables the float unit and Helium, coprocessors 10 and 11, which are off after reset. On a
   * processor without them these bits ignore writes. */
  *kCoprocessorAccess |= 0xFu << 20;
  __asm__ volatile("dsb\n isb" ::: "memory");
  const uint32_t* from = embert_data_load;
  for (uint32_t* to = embert_data_begin; to < embert_data_end; ++to) *to = *from++;
  for (uint32_t* to = embert_bss_begin; to < embert_bss_end; ++to) *to = 0;
  _start();
}

static void unexpected(void) {
  uint32_t exception;
  __asm__ volatile("mrs %0, ipsr" : "=r"(exception));
  embert_fault(exception);
}

typedef void (*Handler)(void);

__attribute__((section(".vectors"), used)) static const struct {
  uint8_t* stack_top;
  Handler reset;
  Handler exceptions[14];
} vectors = {embert_stack_top,
             embert_reset,
             {unexpected, unexpected, unexpected, unexpected, unexpected, unexpected, unexpected,
              unexpected, unexpected, unexpected, unexpected, unexpected, unexpected, unexpected}};
