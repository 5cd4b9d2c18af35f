// SPDX-License-Identifier: Apache-2.0
// The messages between the desktop and a device. A body is version u8, kind u8, number u16,
// payload; numbers are little-endian. The desktop asks, the device answers each request with one
// reply of the same number. A request may be asked again under its number: an answer depends on the
// request alone.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "targets/device/bytes.hpp"

namespace embert::device {

static constexpr uint8_t kProtocolVersion = 1;
static constexpr size_t kHeadBytes = 4;

enum Kind : uint8_t {
  kHello = 1,       ///< no payload
  kRun = 2,         ///< payload: the bytes of a text
  kReply = 0x80,    ///< with the kind that it answers: HelloReply, RunReply
  kRefusal = 0xff,  ///< payload: Refusal u8. Number 0 where it is not known
};

enum class Refusal : uint8_t { kDamaged = 1, kOtherVersion = 2, kUnknownKind = 3, kTooLong = 4 };

struct Head {
  uint8_t version, kind;
  uint16_t number;
};
inline void put_head(uint8_t* body, const Head& head) {
  body[0] = head.version;
  body[1] = head.kind;
  put_u16(body + 2, head.number);
}
inline Head get_head(const uint8_t* body) {
  return {body[0], body[1], static_cast<uint16_t>(get_u16(body + 2))};
}

/// What RunReply.ticks counts.
enum class TickUnit : uint32_t { kNone = 0, kCycles = 1, kInstructions = 2, kNanoseconds = 3 };

/// What the device is. Behind it in the payload, up to its end: the name of firmware and kernels.
struct HelloReply {
  uint32_t model_checksum;  ///< of the blob that runs there (embert_model_info)
  uint32_t max_tokens, max_text_bytes;
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
  return {get_u32(at),
          get_u32(at + 4),
          get_u32(at + 8),
          get_u32(at + 12),
          static_cast<TickUnit>(get_u32(at + 16)),
          get_u32(at + 20)};
}

/// What a model makes of a text.
struct RunReply {
  uint32_t status;   ///< embert_status; 0 with what follows
  uint32_t tokens;   ///< special tokens included, cut to max_tokens
  uint32_t ids_crc;  ///< CRC-32C of the ids, s32 each
  uint32_t
      outputs_crc;  ///< of the logits, s32 each; without a classifier of the embedding, s16 each
  int32_t label;    ///< of the highest logit, the first of equal ones; -1 without a classifier
  uint64_t ticks;   ///< tokenizer and model, no transfer
  uint32_t stack_bytes;  ///< most that was ever used; 0: not known
  uint32_t arena_bytes;  ///< from its start to the last byte that was ever written
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
  return {get_u32(at),
          get_u32(at + 4),
          get_u32(at + 8),
          get_u32(at + 12),
          static_cast<int32_t>(get_u32(at + 16)),
          get_u64(at + 20),
          get_u32(at + 28),
          get_u32(at + 32)};
}

static constexpr size_t kMaxReplyBytes = kHeadBytes + kHelloReplyBytes + kMaxNameBytes;
static_assert(kMaxReplyBytes >= kHeadBytes + kRunReplyBytes, "the longest reply is the other");

}  // namespace embert::device
