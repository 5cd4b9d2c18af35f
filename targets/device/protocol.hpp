// SPDX-License-Identifier: Apache-2.0
// The messages between the desktop and a device. The body of a frame is version u8, kind u8,
// request number u16, payload; all integers are little-endian. The desktop sends requests; the
// device answers each with one reply that has the request's number. The desktop may repeat a
// request, because a reply depends on the request alone.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "targets/device/bytes.hpp"

namespace embert::device {

static constexpr uint8_t kProtocolVersion = 1;
static constexpr size_t kHeaderBytes = 4;

enum Kind : uint8_t {
  kHello = 1,       ///< no payload
  kRun = 2,         ///< payload: the bytes of a text
  kReply = 0x80,    ///< added to the request's kind; payload: HelloReply or RunReply
  kRefusal = 0xff,  ///< payload: Refusal u8; number 0 if the request's is not known
};

enum class Refusal : uint8_t { kDamaged = 1, kOtherVersion = 2, kUnknownKind = 3, kTooLong = 4 };

struct MessageHeader {
  uint8_t version, kind;
  uint16_t number;  ///< of the request
};
inline void put_header(uint8_t* body, const MessageHeader& header) {
  body[0] = header.version;
  body[1] = header.kind;
  put_u16(body + 2, header.number);
}
inline MessageHeader get_header(const uint8_t* body) {
  return {body[0], body[1], static_cast<uint16_t>(get_u16(body + 2))};
}

/// The unit of RunReply.ticks.
enum class TickUnit : uint32_t { kNone = 0, kCycles = 1, kInstructions = 2, kNanoseconds = 3 };

/// Describes the device. The rest of the payload is the name of firmware and kernels.
struct HelloReply {
  uint32_t model_checksum;  ///< of the device's blob (embert_model_info)
  uint32_t max_tokens;      ///< longer texts are cut
  uint32_t max_text_bytes;  ///< longer texts are refused
  uint32_t arena_bytes;
  TickUnit tick_unit;
  uint32_t ticks_per_second;  ///< 0: not known
};
static constexpr size_t kHelloReplyBytes = 24, kMaxNameBytes = 64;
inline void put_hello(uint8_t* at, const HelloReply& hello) {
  put_u32(at, hello.model_checksum);
  put_u32(at + 4, hello.max_tokens);
  put_u32(at + 8, hello.max_text_bytes);
  put_u32(at + 12, hello.arena_bytes);
  put_u32(at + 16, static_cast<uint32_t>(hello.tick_unit));
  put_u32(at + 20, hello.ticks_per_second);
}
inline HelloReply get_hello(const uint8_t* at) {
  return {.model_checksum = get_u32(at),
          .max_tokens = get_u32(at + 4),
          .max_text_bytes = get_u32(at + 8),
          .arena_bytes = get_u32(at + 12),
          .tick_unit = static_cast<TickUnit>(get_u32(at + 16)),
          .ticks_per_second = get_u32(at + 20)};
}

/// The result of the model for one text.
struct RunReply {
  uint32_t status;   ///< embert_status; unless it is 0, the text has no result
  uint32_t tokens;   ///< special tokens included, cut to max_tokens
  uint32_t ids_crc;  ///< CRC-32C of the ids, s32 each
  /// CRC-32C of the logits, s32 each; without a classifier of the embedding, s16 each.
  uint32_t outputs_crc;
  int32_t label;         ///< of the highest logit, the first of equal ones; -1: no classifier
  uint64_t ticks;        ///< for tokenizer and model, without transfer
  uint32_t stack_bytes;  ///< high water since the start; 0: not known
  uint32_t arena_bytes;  ///< high water since the start, from the arena's first byte
};
static constexpr size_t kRunReplyBytes = 36;
inline void put_run(uint8_t* at, const RunReply& run) {
  put_u32(at, run.status);
  put_u32(at + 4, run.tokens);
  put_u32(at + 8, run.ids_crc);
  put_u32(at + 12, run.outputs_crc);
  put_u32(at + 16, static_cast<uint32_t>(run.label));
  put_u64(at + 20, run.ticks);
  put_u32(at + 28, run.stack_bytes);
  put_u32(at + 32, run.arena_bytes);
}
inline RunReply get_run(const uint8_t* at) {
  return {.status = get_u32(at),
          .tokens = get_u32(at + 4),
          .ids_crc = get_u32(at + 8),
          .outputs_crc = get_u32(at + 12),
          .label = static_cast<int32_t>(get_u32(at + 16)),
          .ticks = get_u64(at + 20),
          .stack_bytes = get_u32(at + 28),
          .arena_bytes = get_u32(at + 32)};
}

static constexpr size_t kMaxReplyBytes = kHeaderBytes + kHelloReplyBytes + kMaxNameBytes;
static_assert(kMaxReplyBytes >= kHeaderBytes + kRunReplyBytes,
              "a hello reply with the longest name is the longest reply");

}  // namespace embert::device
