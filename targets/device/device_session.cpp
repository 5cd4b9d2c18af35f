// SPDX-License-Identifier: Apache-2.0
#include "targets/device/device_session.hpp"

#include <string.h>

namespace embert::device {

bool DeviceSession::take(uint8_t byte) {
  switch (reader_.take(byte)) {
    case FrameEvent::kNone:
      return false;
    case FrameEvent::kDamaged:
      return refuse(0, Refusal::kDamaged);
    case FrameEvent::kBody:
      return answer(reader_.body(), reader_.body_bytes());
  }
  return false;
}

bool DeviceSession::answer(const uint8_t* body, size_t bytes) {
  if (bytes < kHeaderBytes) return refuse(0, Refusal::kDamaged);
  const MessageHeader header = get_header(body);
  const uint8_t* payload = body + kHeaderBytes;
  const size_t payload_bytes = bytes - kHeaderBytes;
  if (header.version != kProtocolVersion) return refuse(header.number, Refusal::kOtherVersion);
  const MessageHeader reply = {kProtocolVersion, static_cast<uint8_t>(header.kind | kReply),
                               header.number};

  if (header.kind == kHello) {
    put_hello(reply_ + kHeaderBytes, {.model_checksum = runner_.info().checksum,
                                      .max_tokens = runner_.max_tokens(),
                                      .max_text_bytes = static_cast<uint32_t>(max_text_bytes()),
                                      .arena_bytes = static_cast<uint32_t>(runner_.arena_bytes()),
                                      .tick_unit = port_.tick_unit,
                                      .ticks_per_second = port_.ticks_per_second});
    size_t name_bytes = 0;
    while (name_bytes < kMaxNameBytes && port_.name[name_bytes] != 0) ++name_bytes;
    memcpy(reply_ + kHeaderBytes + kHelloReplyBytes, port_.name, name_bytes);
    send(reply, kHelloReplyBytes + name_bytes);
    return true;
  }
  if (header.kind == kRun) {
    if (payload_bytes > max_text_bytes()) return refuse(header.number, Refusal::kTooLong);
    const uint64_t before = port_.ticks(port_.context);
    RunReply run = runner_.run(reinterpret_cast<const char*>(payload), payload_bytes);
    run.ticks = port_.ticks(port_.context) - before;
    run.stack_bytes = port_.stack_bytes != nullptr ? port_.stack_bytes(port_.context) : 0;
    put_run(reply_ + kHeaderBytes, run);
    send(reply, kRunReplyBytes);
    return true;
  }
  return refuse(header.number, Refusal::kUnknownKind);
}

bool DeviceSession::refuse(uint16_t number, Refusal reason) {
  reply_[kHeaderBytes] = static_cast<uint8_t>(reason);
  send({kProtocolVersion, kRefusal, number}, 1);
  return false;
}

void DeviceSession::send(MessageHeader header, size_t payload_bytes) {
  uint8_t frame[frame_bytes(kMaxReplyBytes)];
  put_header(reply_, header);
  const size_t bytes = write_frame(reply_, kHeaderBytes + payload_bytes, frame);
  port_.write(port_.context, frame, bytes);
}

/// Returns the longest text whose frame fits into the buffer, whatever its bytes.
size_t DeviceSession::max_text_bytes() const {
  size_t bytes = buffer_bytes_;
  while (bytes > 0 && frame_buffer_bytes(bytes) > buffer_bytes_) --bytes;
  return bytes;
}

}  // namespace embert::device
