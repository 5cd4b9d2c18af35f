// SPDX-License-Identifier: Apache-2.0
// Frames on a link that may lose, change and repeat bytes. A frame is a body and its CRC-32C
// between two zero bytes. COBS (Cheshire and Baker 1999, "Consistent Overhead Byte Stuffing")
// removes all zeros in between, so a reader that lost a frame's start finds the next frame at the
// next zero.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace embert::device {

static constexpr size_t kCrcBytes = 4;
/// Returns the most bytes that a body of `bytes` takes on the link: with CRC, one byte in 254 for
/// COBS, and two zeros.
static constexpr size_t frame_bytes(size_t bytes) {
  return bytes + kCrcBytes + (bytes + kCrcBytes) / 254 + 1 + 2;
}

/// Writes the frame of body [bytes] to dst [frame_bytes(bytes)] and returns its length. body and
/// dst must not overlap.
size_t write_frame(const uint8_t* body, size_t bytes, uint8_t* dst);

enum class FrameEvent {
  kNone,     ///< no frame has ended
  kBody,     ///< a whole frame has ended; body() holds until the next take()
  kDamaged,  ///< bytes have ended that are no frame
};

/// Finds frames in the bytes of a link.
class FrameReader {
 public:
  /// buffer [capacity]: a frame that does not fit counts as damaged.
  FrameReader(uint8_t* buffer, size_t capacity) : buffer_(buffer), capacity_(capacity) {}

  FrameEvent take(uint8_t byte);
  const uint8_t* body() const { return buffer_; }
  size_t body_bytes() const { return body_bytes_; }

 private:
  uint8_t* buffer_;
  size_t capacity_;
  size_t count_ = 0;  ///< bytes since the last zero; capacity_ + 1: too many
  size_t body_bytes_ = 0;
};

}  // namespace embert::device
