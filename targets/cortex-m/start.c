/* SPDX-License-Identifier: Apache-2.0
 * Start of any Cortex-M image, from reset to `_start`, which the image provides (with a C library
 * its own). The linker script provides the symbols. Interrupts of the board are not used, so the
 * vectors end with the processor's own.
 */
#include <stdint.h>

extern uint8_t embert_stack_top[];
/* What lies elsewhere until it is copied; all of length 0 where images are loaded in place. */
extern uint32_t embert_data_load[], embert_data_begin[], embert_data_end[];
extern uint32_t embert_bss_begin[], embert_bss_end[];

__attribute__((noreturn)) void _start(void);
__attribute__((noreturn)) void embert_reset(void);
/* An exception that nothing expects: 3 and 4 faults of memory, 6 of instructions ... The image says
 * what is done. */
__attribute__((noreturn)) void embert_fault(uint32_t exception);

static volatile uint32_t* const kCoprocessorAccess = (volatile uint32_t*)0xE000ED88u;

void embert_reset(void) {
  /* Float unit and Helium are coprocessors 10 and 11; off after reset. Without them the bits are
   * not writable. */
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
