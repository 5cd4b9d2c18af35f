// SPDX-License-Identifier: Apache-2.0
// Text in, answer out, on a microcontroller: the firmware answers each line of text from the
// board's serial port with a label and a score. The first zero byte switches the port to the device
// protocol (targets/device) until the next reset.
//
// The model is read in place, from flash. Arena, buffers and outputs lie in one block of memory of
// stated size; at the start the firmware says how much of the block it uses.
#include <string.h>

#include "embert/embert_inspect.h"
#include "embert/embert_tasks.h"
#include "targets/cortex-m/board.hpp"
#include "targets/device/device_session.hpp"
#include "targets/device/firmware_memory.hpp"

extern "C" {
// Defined by model.S and the linker script.
extern const uint8_t embert_firmware_model[], embert_firmware_model_end[];
extern uint8_t embert_stack_bottom[], embert_stack_top[];
[[noreturn]] void _start(void);
[[noreturn]] void embert_fault(uint32_t exception);
}

namespace embert {
namespace {

constexpr size_t kMaxTextBytes = device::kMaxFirmwareText;
constexpr uint8_t kUnusedStack = 0x5a;

alignas(64) uint8_t memory[EMBERT_FIRMWARE_MEMORY];
device::TextRunner runner;

void write_text(const char* text) {
  board::write(reinterpret_cast<const uint8_t*>(text), strlen(text));
}

/// Writes an integer with a decimal point before its last `decimals` digits.
void write_number(uint64_t number, unsigned decimals) {
  char text[24];
  size_t at = sizeof(text);
  text[--at] = 0;
  for (unsigned digit = 0; digit <= decimals || number > 0; ++digit) {
    if (digit == decimals && digit > 0) text[--at] = '.';
    text[--at] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
  write_text(text + at);
}

[[noreturn]] void fail(const char* part, const char* reason) {
  write_text(part);
  write_text(": ");
  write_text(reason);
  write_text("\r\n");
  board::stop();
}

/// Takes parts from `memory`, one after another.
struct Memory {
  size_t used = 0;

  template <typename T>
  T* take(size_t count) {
    used = device::end_of_part(used, count * sizeof(T));
    T* part = reinterpret_cast<T*>(memory + used - count * sizeof(T));
    if (used > sizeof(memory)) fail("firmware", "EMBERT_FIRMWARE_MEMORY is too small");
    return part;
  }
};

/// Fills the unused stack, so that stack_bytes() can find the high water. 128 bytes are left for
/// this function's own frame.
void paint_stack() {
  volatile uint8_t* const here = static_cast<uint8_t*>(__builtin_frame_address(0)) - 128;
  for (volatile uint8_t* at = embert_stack_bottom; at < here; ++at) *at = kUnusedStack;
}
/// Returns the high water of the stack: its bytes from the first one that ever changed.
uint32_t stack_bytes(void*) {
  const uint8_t* at = embert_stack_bottom;
  while (at < embert_stack_top && *at == kUnusedStack) ++at;
  return static_cast<uint32_t>(embert_stack_top - at);
}

void write_bytes(void*, const uint8_t* bytes, size_t count) { board::write(bytes, count); }
uint64_t read_ticks(void*) { return board::ticks(); }

/// Writes the answer to a text: "0.9731 translate  (9 tokens, 1234 ticks)".
void answer(const char* text, size_t bytes) {
  const uint64_t before = board::ticks();
  const device::RunReply reply = runner.run(text, bytes);
  const uint64_t ticks = board::ticks() - before;
  const auto status = static_cast<embert_status>(reply.status);
  if (status != EMBERT_STATUS_OK) {
    write_text(embert_status_name(status));
  } else if (runner.info().num_labels == 0) {
    write_text("no classifier: use the device protocol");
  } else {
    embert_label_score best = {};
    const embert_logits logits = {.values = runner.logits(),
                                  .count = runner.info().num_labels,
                                  .scale = runner.logits_scale()};
    embert_labels labels = {.items = &best, .capacity = 1};
    embert_rank_labels(&logits, EMBERT_SCORE_SOFTMAX, 1, &labels);
    write_number((static_cast<uint64_t>(best.score) * 10000 + EMBERT_Q30_ONE / 2) / EMBERT_Q30_ONE,
                 4);
    write_text(" ");
    write_text(embert_model_label(runner.model(), best.label));
    write_text("  (");
    write_number(reply.tokens, 0);
    write_text(" tokens, ");
    write_number(ticks, 0);
    write_text(" ticks)");
  }
  write_text("\r\n");
}

/// Answers lines of text, which end with CR, LF or both, until a zero byte comes.
void answer_lines(uint8_t* line) {
  write_text("> ");
  uint8_t last = 0;
  for (size_t count = 0;;) {
    const uint8_t byte = board::read();
    const bool second_of_two = byte == '\n' && last == '\r';
    last = byte;
    if (byte == 0) return;
    if (second_of_two) continue;
    if (byte != '\n' && byte != '\r') {
      if (count < kMaxTextBytes) line[count] = byte;
      ++count;
      continue;
    }
    if (count <= kMaxTextBytes) {
      answer(reinterpret_cast<const char*>(line), count);
    } else {
      write_text("longer than ");
      write_number(kMaxTextBytes, 0);
      write_text(" bytes\r\n");
    }
    write_text("> ");
    count = 0;
  }
}

/// Opens the model of the image in exactly the memory that its longest texts need. noinline: its
/// frame would otherwise stay on the stack while texts run.
[[gnu::noinline]] void open_model(Memory& parts) {
  const size_t blob_bytes = static_cast<size_t>(embert_firmware_model_end - embert_firmware_model);
  const uint32_t isas = embert_isa_detect();
  embert_model model;
  embert_model_info info = {.size = sizeof(info)};
  embert_status status = embert_model_open(embert_firmware_model, blob_bytes, isas, &model);
  if (status == EMBERT_STATUS_OK) status = embert_model_get_info(&model, &info);
  if (status != EMBERT_STATUS_OK) fail("model", embert_status_name(status));
  embert_options options = embert_options_default(&model);
  size_t arena_bytes = 0;
  status = embert_arena_bytes(&model, &options, &arena_bytes);
  if (status != EMBERT_STATUS_OK) fail("model", embert_status_name(status));
  uint8_t* arena = parts.take<uint8_t>(arena_bytes);
  const device::TextBuffers buffers = {.ids = parts.take<int32_t>(options.max_tokens),
                                       .type_ids = parts.take<int32_t>(options.max_tokens),
                                       .logits = parts.take<int32_t>(info.num_labels),
                                       .embedding = parts.take<int16_t>(info.vector_size)};
  status = runner.open(model, options.max_tokens, arena, arena_bytes, buffers);
  if (status != EMBERT_STATUS_OK) fail("model", embert_status_name(status));
  status = runner.selftest();
  if (status != EMBERT_STATUS_OK && status != EMBERT_STATUS_NO_SELFTEST) {
    fail("self-test", embert_status_name(status));
  }

  write_text("embert ");
  write_text(embert_version());
  write_text(" on ");
  write_text(board::kName);
  write_text(", kernels ");
  write_text(embert_isa_name(isas));
  write_text("\r\nmodel ");
  write_number(blob_bytes, 0);
  write_text(" bytes, arena ");
  write_number(arena_bytes, 0);
  write_text(", texts up to ");
  write_number(options.max_tokens, 0);
  write_text(status == EMBERT_STATUS_OK ? " tokens\r\nself-test passed\r\n"
                                        : " tokens\r\nself-test: the model has none\r\n");
}

[[noreturn]] void run() {
  paint_stack();
  Memory parts;
  open_model(parts);
  // For one line of text, later for one frame.
  uint8_t* buffer = parts.take<uint8_t>(device::kFrameBufferBytes);
  write_text("memory ");
  write_number(parts.used, 0);
  write_text(" of ");
  write_number(sizeof(memory), 0);
  write_text(" bytes\r\n");

  answer_lines(buffer);
  const device::Port port = {.context = nullptr,
                             .write = write_bytes,
                             .ticks = read_ticks,
                             .stack_bytes = stack_bytes,
                             .tick_unit = board::kTickUnit,
                             .ticks_per_second = board::kTicksPerSecond,
                             .name = board::kName};
  device::DeviceSession session(runner, port, buffer, device::kFrameBufferBytes);
  for (;;) session.take(board::read());
}

}  // namespace
}  // namespace embert

void _start(void) {
  embert::board::start();
  embert::run();
}

void embert_fault(uint32_t exception) {
  embert::write_text("\r\nexception ");
  embert::write_number(exception, 0);
  embert::write_text("\r\n");
  embert::board::stop();
}
