// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/device/device_client.hpp"

#include <algorithm>

#include "targets/cli/io/output.hpp"
#include "targets/cli/tool_error.hpp"

namespace embert::cli {

using device::FrameEvent;
using Clock = std::chrono::steady_clock;

constexpr size_t kStartupTextBytes = 1024;  // kept at least; a device may write for ever
constexpr size_t kShownBytes = 200;         // of its last line

DeviceClient::DeviceClient(Connection& connection, std::chrono::milliseconds timeout,
                           unsigned tries)
    : connection_(connection),
      timeout_(timeout),
      tries_(tries),
      buffer_(device::frame_bytes(device::kMaxReplyBytes)),
      reader_(buffer_.data(), buffer_.size()) {}

DeviceReply DeviceClient::ask(device::Kind kind, std::span<const uint8_t> payload,
                              size_t min_reply_bytes) {
  ++number_;
  std::vector<uint8_t> body(device::kHeaderBytes);
  device::put_header(body.data(), {device::kProtocolVersion, kind, number_});
  body.insert(body.end(), payload.begin(), payload.end());
  std::vector<uint8_t> frame(device::frame_bytes(body.size()));
  frame.resize(device::write_frame(body.data(), body.size(), frame.data()));

  for (unsigned attempt = 0; attempt < tries_; ++attempt) {
    if (attempt > 0) ++errors_.asked_again;
    const auto asked = Clock::now();
    connection_.write(frame, asked + timeout_);
    FrameEvent event;
    while (next_event(asked + timeout_, &event)) {
      if (event == FrameEvent::kDamaged) {
        ++errors_.damaged_replies;
        break;
      }
      const std::span<const uint8_t> reply(reader_.body(), reader_.body_bytes());
      const Outcome outcome = examine(reply, kind, min_reply_bytes);
      if (outcome == Outcome::kAskAgain) break;
      if (outcome == Outcome::kReply) {
        const std::chrono::duration<double> taken = Clock::now() - asked;
        return {{reply.begin() + device::kHeaderBytes, reply.end()}, taken.count()};
      }
    }
  }
  throw InputError(quoted_path(connection_.address()) + ": no answer to request " +
                   std::to_string(number_) + ", asked " + std::to_string(tries_) +
                   " times (each at most " + std::to_string(timeout_.count()) +
                   " ms, until a damaged answer; there were " +
                   std::to_string(errors_.damaged_replies) +
                   "): is a firmware of embert running there, at this speed?" + last_words());
}

DeviceClient::Outcome DeviceClient::examine(std::span<const uint8_t> body, device::Kind kind,
                                            size_t min_reply_bytes) {
  if (body.size() < device::kHeaderBytes) {
    ++errors_.damaged_replies;
    return Outcome::kAskAgain;
  }
  const device::MessageHeader header = device::get_header(body.data());
  const std::string where = quoted_path(connection_.address());
  if (header.version != device::kProtocolVersion) {
    throw InputError(where + ": the device speaks protocol version " +
                     std::to_string(header.version) + ", this tool version " +
                     std::to_string(device::kProtocolVersion) +
                     ": build firmware and tool from the same source");
  }
  const bool refused = header.kind == device::kRefusal && body.size() > device::kHeaderBytes;
  const auto reason = refused ? static_cast<device::Refusal>(body[device::kHeaderBytes])
                              : device::Refusal::kDamaged;
  if (refused && reason == device::Refusal::kDamaged) {
    ++errors_.damaged_requests;
    return Outcome::kAskAgain;
  }
  if (header.number != number_) {
    ++errors_.stray_replies;
    return Outcome::kWait;
  }
  if (refused) {
    throw InputError(where + (reason == device::Refusal::kTooLong
                                  ? ": a text is longer than the device takes"
                                  : ": the device does not know request " + std::to_string(kind)));
  }
  if (header.kind != (kind | device::kReply) ||
      body.size() < device::kHeaderBytes + min_reply_bytes) {
    ++errors_.damaged_replies;
    return Outcome::kAskAgain;
  }
  return Outcome::kReply;
}

std::string DeviceClient::last_words() const {
  if (has_frames_) return "";
  const size_t end = startup_text_.find_last_not_of("\r\n ");
  if (end == std::string::npos) return "";
  const size_t begin = startup_text_.find_last_of('\n', end) + 1, bytes = end + 1 - begin;
  const size_t shown = std::min(bytes, kShownBytes);
  return std::string("; the last that it wrote: ") + (shown < bytes ? "..." : "") +
         one_line(startup_text_.substr(end + 1 - shown, shown));
}

bool DeviceClient::next_event(Clock::time_point until, FrameEvent* event) {
  for (;;) {
    while (next_ < pending_.size()) {
      const uint8_t byte = pending_[next_++];
      has_frames_ = has_frames_ || byte == 0;
      if (!has_frames_) {
        if (startup_text_.size() == 2 * kStartupTextBytes)
          startup_text_.erase(0, kStartupTextBytes);
        startup_text_ += static_cast<char>(byte);
        continue;
      }
      *event = reader_.take(byte);
      if (*event != FrameEvent::kNone) return true;
    }
    try {
      pending_ = connection_.read(until);
    } catch (const InputError& error) {
      throw InputError(error.what() + last_words());
    }
    next_ = 0;
    if (pending_.empty()) return false;
  }
}

}  // namespace embert::cli
