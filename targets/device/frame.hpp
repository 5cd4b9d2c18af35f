// SPDX-License-Identifier: Apache-2.0
// Frames on a line that may lose, change and repeat bytes. A frame is a body and its CRC-32C,
// stuffed by COBS (Cheshire and Baker 1999, "Consistent Overhead Byte Stuffing") so that it has no
// zero byte, between two zero bytes: a reader that has lost its place finds it at the next zero.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace embert::device {

static constexpr size_t kCrcBytes = 4;
/// Most bytes on the line of a body of `bytes`: the CRC, one byte in 254 for COBS, two zeros.
static constexpr size_t frame_bytes(size_t bytes) {
  return bytes + kCrcBytes + (bytes + kCrcBytes) / 254 + 1 + 2;
}

/// Writes the frame of body [bytes] to dst [frame_bytes(bytes)] and returns its length. No overlap.
size_t write_frame(const uint8_t* body, size_t bytes, uint8_t* dst);

enum class LineEvent {
  kNothing,  ///< more bytes are to come
  kBody,     ///< a whole frame has come: body() until the next take()
  kDamaged,  ///< something that is no frame has come
};

/// Finds frames among the bytes of a line.
class FrameReader {
 public:
  /// buffer: longer frames than it has room for are damaged ones.
  FrameReader(uint8_t* buffer, size_t capacity) : buffer_(buffer), capacity_(capacity) {}

  LineEvent take(uint8_t byte);
  const uint8_t* body() const { return buffer_; }
  size_t body_bytes() const { return body_bytes_; }

 private:
  uint8_t* buffer_;
  size_t capacity_;
  size_t count_ = 0;  ///< bytes since the last zero, more than capacity_ for what does not fit
  size_t body_bytes_ = 0;
};

}  // namespace embert::device
