// SPDX-License-Identifier: Apache-2.0
#include "targets/device/frame.hpp"

#include "embert/embert_inspect.h"
#include "targets/device/bytes.hpp"

namespace embert::device {
namespace {

/// Writes groups of up to 254 bytes that are not zero; a byte with length + 1 precedes each group.
class Stuffing {
 public:
  explicit Stuffing(uint8_t* dst) : code_(dst), next_(dst + 1) {}

  void add(uint8_t byte) {
    if (byte != 0) *next_++ = byte;
    if (byte == 0 || next_ - code_ == 255) end_group();
  }
  /// Call it once, after the last byte. Returns the end.
  uint8_t* finish() {
    *code_ = static_cast<uint8_t>(next_ - code_);
    return next_;
  }

 private:
  void end_group() {
    *code_ = static_cast<uint8_t>(next_ - code_);
    code_ = next_++;
  }
  uint8_t* code_;  ///< the byte for the length of the open group
  uint8_t* next_;
};

/// Undoes the stuffing in place. Returns false if a length leads beyond the end.
bool unstuff(uint8_t* bytes, size_t* count) {
  size_t read = 0, written = 0;
  while (read < *count) {
    const size_t code = bytes[read++];
    if (code == 0 || read + code - 1 > *count) return false;
    for (size_t i = 1; i < code; ++i) bytes[written++] = bytes[read++];
    if (code < 255 && read < *count) bytes[written++] = 0;
  }
  *count = written;
  return true;
}

}  // namespace

size_t write_frame(const uint8_t* body, size_t bytes, uint8_t* dst) {
  uint8_t crc[kCrcBytes];
  put_u32(crc, embert_crc32c(0, body, bytes));
  dst[0] = 0;
  Stuffing stuffing(dst + 1);
  for (size_t i = 0; i < bytes; ++i) stuffing.add(body[i]);
  for (const uint8_t byte : crc) stuffing.add(byte);
  uint8_t* end = stuffing.finish();
  *end++ = 0;
  return static_cast<size_t>(end - dst);
}

FrameEvent FrameReader::take(uint8_t byte) {
  if (byte != 0) {
    if (count_ < capacity_) buffer_[count_] = byte;
    if (count_ <= capacity_) ++count_;
    return FrameEvent::kNone;
  }
  size_t count = count_;
  count_ = 0;
  if (count == 0) return FrameEvent::kNone;  // the zero before a frame
  if (count > capacity_ || !unstuff(buffer_, &count) || count < kCrcBytes) {
    return FrameEvent::kDamaged;
  }
  body_bytes_ = count - kCrcBytes;
  const bool whole = get_u32(buffer_ + body_bytes_) == embert_crc32c(0, buffer_, body_bytes_);
  return whole ? FrameEvent::kBody : FrameEvent::kDamaged;
}

}  // namespace embert::device
