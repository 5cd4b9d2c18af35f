// SPDX-License-Identifier: Apache-2.0
// Text in, answer out, on a microcontroller: a line of text over the board's serial line is
// answered with its label and score. The first zero byte turns the line over to the device protocol
// (targets/device), which stays until the board is reset.
//
// The model is read where it lies. All that changes lies in one block of memory of stated size; the
// start says how much of it is in use.
#include <string.h>

#include "embert/embert_tasks.h"
#include "targets/cortex-m/board.hpp"
#include "targets/device/device_session.hpp"

extern "C" {
// model.S and the linker script
extern const uint8_t embert_firmware_model[], embert_firmware_model_end[];
extern uint8_t embert_stack_bottom[], embert_stack_top[];
[[noreturn]] void _start(void);
[[noreturn]] void embert_fault(uint32_t exception);
}

namespace embert {
namespace {

constexpr size_t kMaxTextBytes = 512;
constexpr uint8_t kUnusedStack = 0x5a;

alignas(64) uint8_t memory[EMBERT_FIRMWARE_MEMORY];
device::TextRunner runner;

void write_text(const char* text) {
  board::write(reinterpret_cast<const uint8_t*>(text), strlen(text));
}

/// A number with its last `decimals` digits behind a point.
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

[[noreturn]] void fail(const char* what, const char* reason) {
  write_text(what);
  write_text(": ");
  write_text(reason);
  write_text("\r\n");
  board::stop();
}

/// Parts of `memory`, one behind the other.
struct Memory {
  size_t used = 0;

  template <typename T>
  T* take(size_t count) {
    used = (used + 63) / 64 * 64;
    T* part = reinterpret_cast<T*>(memory + used);
    used += count * sizeof(T);
    if (used > sizeof(memory)) fail("firmware", "EMBERT_FIRMWARE_MEMORY is too small");
    return part;
  }
};

/// From the stack's end to the first byte that ever changed. Painted up to what start-up used.
void paint_stack() {
  volatile uint8_t* const here = static_cast<uint8_t*>(__builtin_frame_address(0)) - 128;
  for (volatile uint8_t* at = embert_stack_bottom; at < here; ++at) *at = kUnusedStack;
}
uint32_t stack_bytes(void*) {
  const uint8_t* at = embert_stack_bottom;
  while (at < embert_stack_top && *at == kUnusedStack) ++at;
  return static_cast<uint32_t>(embert_stack_top - at);
}

void write_line(void*, const uint8_t* bytes, size_t count) { board::write(bytes, count); }
uint64_t read_ticks(void*) { return board::ticks(); }

/// "0.9731 translate", and what it took.
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
    size_t count = 0;
    embert_rank_labels(runner.logits(), runner.info().num_labels, runner.logits_scale(),
                       EMBERT_SCORE_SOFTMAX, 1, &best, 1, &count);
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

/// Lines of text, which CR, LF or both end, until a zero byte comes.
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

/// Opens the model that the image carries, in the least memory that its longest texts need. Not
/// inlined: what it has on the stack would stay there under every text.
[[gnu::noinline]] void open_model(Memory& parts) {
  const size_t blob_bytes = static_cast<size_t>(embert_firmware_model_end - embert_firmware_model);
  const uint32_t isas = embert_isa_detect();
  embert_model model;
  embert_model_info info;
  embert_status status = embert_model_open(embert_firmware_model, blob_bytes, isas, &model);
  if (status == EMBERT_STATUS_OK) status = embert_model_get_info(&model, &info);
  if (status != EMBERT_STATUS_OK) fail("model", embert_status_name(status));
  embert_options options = embert_options_default(&model);
  size_t arena_bytes = 0;
  status = embert_arena_bytes(&model, &options, &arena_bytes);
  if (status != EMBERT_STATUS_OK) fail("model", embert_status_name(status));
  uint8_t* arena = parts.take<uint8_t>(arena_bytes);
  const device::TextBuffers buffers = {
      parts.take<int32_t>(options.max_tokens), parts.take<int32_t>(options.max_tokens),
      parts.take<int32_t>(info.num_labels), parts.take<int16_t>(info.hidden_size)};
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
  constexpr size_t kLineBytes = device::DeviceSession::line_bytes(kMaxTextBytes);
  uint8_t* line = parts.take<uint8_t>(kLineBytes);
  write_text("memory ");
  write_number(parts.used, 0);
  write_text(" of ");
  write_number(sizeof(memory), 0);
  write_text(" bytes\r\n");

  answer_lines(line);
  const device::Port port = {nullptr,     write_line,       read_ticks,
                             stack_bytes, board::kTickUnit, board::kTicksPerSecond,
                             board::kName};
  device::DeviceSession session(runner, port, line, kLineBytes);
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
