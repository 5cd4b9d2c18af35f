// SPDX-License-Identifier: Apache-2.0
#include "targets/device/device_session.hpp"

#include <string.h>

namespace embert::device {

void DeviceSession::take(uint8_t byte) {
  switch (reader_.take(byte)) {
    case LineEvent::kNothing:
      return;
    case LineEvent::kDamaged:
      return refuse(0, Refusal::kDamaged);
    case LineEvent::kBody:
      return answer(reader_.body(), reader_.body_bytes());
  }
}

void DeviceSession::answer(const uint8_t* body, size_t bytes) {
  if (bytes < kHeadBytes) return refuse(0, Refusal::kDamaged);
  const Head head = get_head(body);
  const uint8_t* payload = body + kHeadBytes;
  const size_t payload_bytes = bytes - kHeadBytes;
  if (head.version != kProtocolVersion) return refuse(head.number, Refusal::kOtherVersion);
  const Head reply = {kProtocolVersion, static_cast<uint8_t>(head.kind | kReply), head.number};

  if (head.kind == kHello) {
    put_hello(
        reply_ + kHeadBytes,
        {runner_.info().checksum, runner_.max_tokens(), static_cast<uint32_t>(max_text_bytes()),
         static_cast<uint32_t>(runner_.arena_bytes()), port_.tick_unit, port_.ticks_per_second});
    size_t name_bytes = 0;
    while (port_.name[name_bytes] != 0 && name_bytes < kMaxNameBytes) ++name_bytes;
    memcpy(reply_ + kHeadBytes + kHelloReplyBytes, port_.name, name_bytes);
    return send(reply, kHelloReplyBytes + name_bytes);
  }
  if (head.kind == kRun) {
    if (payload_bytes > max_text_bytes()) return refuse(head.number, Refusal::kTooLong);
    const uint64_t before = port_.ticks(port_.context);
    RunReply run = runner_.run(reinterpret_cast<const char*>(payload), payload_bytes);
    run.ticks = port_.ticks(port_.context) - before;
    run.stack_bytes = port_.stack_bytes != nullptr ? port_.stack_bytes(port_.context) : 0;
    put_run(reply_ + kHeadBytes, run);
    return send(reply, kRunReplyBytes);
  }
  refuse(head.number, Refusal::kUnknownKind);
}

void DeviceSession::refuse(uint16_t number, Refusal reason) {
  reply_[kHeadBytes] = static_cast<uint8_t>(reason);
  send({kProtocolVersion, kRefusal, number}, 1);
}

void DeviceSession::send(Head head, size_t payload_bytes) {
  uint8_t frame[frame_bytes(kMaxReplyBytes)];
  put_head(reply_, head);
  const size_t bytes = write_frame(reply_, kHeadBytes + payload_bytes, frame);
  port_.write(port_.context, frame, bytes);
}

/// The longest text whose frame fits into the line's buffer, whatever its bytes.
size_t DeviceSession::max_text_bytes() const {
  const size_t around = frame_bytes(kHeadBytes) + 1;
  return line_bytes_ > around ? (line_bytes_ - around) / 255 * 254 : 0;
}

}  // namespace embert::device
