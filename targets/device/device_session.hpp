// SPDX-License-Identifier: Apache-2.0
// The device's side of the protocol: takes the bytes of the link and writes replies.
#pragma once

#include "targets/device/frame.hpp"
#include "targets/device/text_runner.hpp"

namespace embert::device {

/// The functions and facts that a device supplies.
struct Port {
  void* context;
  void (*write)(void* context, const uint8_t* bytes, size_t count);
  uint64_t (*ticks)(void* context);
  uint32_t (*stack_bytes)(void* context);  ///< high water of the stack; null: not known
  TickUnit tick_unit;
  uint32_t ticks_per_second;
  const char* name;  ///< such as "mps3-an547, mve"
};

class DeviceSession {
 public:
  /// buffer [buffer_bytes]: for one frame; its size limits the length of a text.
  DeviceSession(TextRunner& runner, const Port& port, uint8_t* buffer, size_t buffer_bytes)
      : runner_(runner), port_(port), reader_(buffer, buffer_bytes), buffer_bytes_(buffer_bytes) {}

  /// Takes a byte of the link. If it completes a request, the reply is written before this returns.
  /// Returns true if it answered a request; false for a refusal, or where no request is whole.
  bool take(uint8_t byte);

  /// Returns the size of the buffer for texts up to max_text_bytes.
  static constexpr size_t frame_buffer_bytes(size_t max_text_bytes) {
    return frame_bytes(kHeaderBytes + max_text_bytes);
  }

 private:
  bool answer(const uint8_t* body, size_t bytes);
  bool refuse(uint16_t number, Refusal reason);
  void send(MessageHeader header, size_t payload_bytes);
  size_t max_text_bytes() const;

  TextRunner& runner_;
  const Port& port_;
  FrameReader reader_;
  size_t buffer_bytes_;
  uint8_t reply_[kMaxReplyBytes] = {};
};

}  // namespace embert::device
