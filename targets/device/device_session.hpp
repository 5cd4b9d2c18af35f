// SPDX-License-Identifier: Apache-2.0
// The device's side: bytes of the line in, replies out.
#pragma once

#include "targets/device/frame.hpp"
#include "targets/device/text_runner.hpp"

namespace embert::device {

/// What a device has around the model.
struct Port {
  void* context;
  void (*write)(void* context, const uint8_t* bytes, size_t count);
  uint64_t (*ticks)(void* context);
  uint32_t (*stack_bytes)(void* context);  ///< most that was ever used; null: not known
  TickUnit tick_unit;
  uint32_t ticks_per_second;
  const char* name;  ///< such as "mps3-an547, mve"
};

class DeviceSession {
 public:
  /// line [line_bytes]: room for the longest frame that may come; with it goes the longest text.
  DeviceSession(TextRunner& runner, const Port& port, uint8_t* line, size_t line_bytes)
      : runner_(runner), port_(port), reader_(line, line_bytes), line_bytes_(line_bytes) {}

  /// A byte of the line; what it completes is answered before this returns.
  void take(uint8_t byte);

  /// Bytes of line for texts up to max_text_bytes.
  static constexpr size_t line_bytes(size_t max_text_bytes) {
    return frame_bytes(kHeadBytes + max_text_bytes);
  }

 private:
  void answer(const uint8_t* body, size_t bytes);
  void refuse(uint16_t number, Refusal reason);
  void send(Head head, size_t payload_bytes);
  size_t max_text_bytes() const;

  TextRunner& runner_;
  const Port& port_;
  FrameReader reader_;
  size_t line_bytes_;
  uint8_t reply_[kMaxReplyBytes] = {};
};

}  // namespace embert::device
