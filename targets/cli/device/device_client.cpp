// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/device/device_client.hpp"

#include "targets/cli/io/output.hpp"
#include "targets/cli/tool_error.hpp"

namespace embert::cli {

using device::LineEvent;
using Clock = std::chrono::steady_clock;

constexpr size_t kMostSaid = 1024;  // bytes: a device may write for ever

DeviceClient::DeviceClient(Connection& connection, std::chrono::milliseconds timeout,
                           unsigned tries)
    : connection_(connection),
      timeout_(timeout),
      tries_(tries),
      line_(device::frame_bytes(device::kMaxReplyBytes)),
      reader_(line_.data(), line_.size()) {}

DeviceReply DeviceClient::ask(device::Kind kind, std::span<const uint8_t> payload,
                              size_t payload_bytes_least) {
  ++number_;
  std::vector<uint8_t> body(device::kHeadBytes);
  device::put_head(body.data(), {device::kProtocolVersion, kind, number_});
  body.insert(body.end(), payload.begin(), payload.end());
  std::vector<uint8_t> frame(device::frame_bytes(body.size()));
  frame.resize(device::write_frame(body.data(), body.size(), frame.data()));

  for (unsigned attempt = 0; attempt < tries_; ++attempt) {
    if (attempt > 0) ++trouble_.asked_again;
    const auto asked = Clock::now();
    connection_.write(frame, asked + timeout_);
    LineEvent event;
    while (next_event(asked + timeout_, &event)) {
      if (event == LineEvent::kDamaged) {
        ++trouble_.damaged_replies;
        break;
      }
      const std::span<const uint8_t> reply(reader_.body(), reader_.body_bytes());
      const Outcome outcome = look_at(reply, kind, payload_bytes_least);
      if (outcome == Outcome::kAskAgain) break;
      if (outcome == Outcome::kReply) {
        const std::chrono::duration<double> taken = Clock::now() - asked;
        return {{reply.begin() + device::kHeadBytes, reply.end()}, taken.count()};
      }
    }
  }
  throw InputError(quoted_path(connection_.place()) + ": no answer to request " +
                   std::to_string(number_) + ", asked " + std::to_string(tries_) +
                   " times (each at most " + std::to_string(timeout_.count()) +
                   " ms, until a damaged answer; there were " +
                   std::to_string(trouble_.damaged_replies) +
                   "): is a firmware of embert running there, at this speed?" + last_words());
}

DeviceClient::Outcome DeviceClient::look_at(std::span<const uint8_t> body, device::Kind kind,
                                            size_t payload_bytes_least) {
  if (body.size() < device::kHeadBytes) {
    ++trouble_.damaged_replies;
    return Outcome::kAskAgain;
  }
  const device::Head head = device::get_head(body.data());
  const std::string where = quoted_path(connection_.place());
  if (head.version != device::kProtocolVersion) {
    throw InputError(where + ": the device speaks protocol version " +
                     std::to_string(head.version) + ", this tool version " +
                     std::to_string(device::kProtocolVersion) +
                     ": build firmware and tool from the same source");
  }
  const bool refused = head.kind == device::kRefusal && body.size() > device::kHeadBytes;
  const auto reason =
      refused ? static_cast<device::Refusal>(body[device::kHeadBytes]) : device::Refusal::kDamaged;
  if (refused && reason == device::Refusal::kDamaged) {
    ++trouble_.damaged_requests;
    return Outcome::kAskAgain;
  }
  if (head.number != number_) {
    ++trouble_.stray_replies;
    return Outcome::kWait;
  }
  if (refused) {
    throw InputError(where + (reason == device::Refusal::kTooLong
                                  ? ": a text is longer than the device takes"
                                  : ": the device does not know request " + std::to_string(kind)));
  }
  if (head.kind != (kind | device::kReply) ||
      body.size() < device::kHeadBytes + payload_bytes_least) {
    ++trouble_.damaged_replies;
    return Outcome::kAskAgain;
  }
  return Outcome::kReply;
}

std::string DeviceClient::last_words() const {
  if (among_frames_) return "";
  const size_t end = said_.find_last_not_of("\r\n ");
  if (end == std::string::npos) return "";
  const size_t begin = said_.find_last_of('\n', end) + 1;
  return "; the last that it wrote: " + one_line(said_.substr(begin, end + 1 - begin));
}

bool DeviceClient::next_event(Clock::time_point until, LineEvent* event) {
  for (;;) {
    while (next_ < pending_.size()) {
      const uint8_t byte = pending_[next_++];
      among_frames_ = among_frames_ || byte == 0;
      if (!among_frames_) {
        if (said_.size() == 2 * kMostSaid) said_.erase(0, kMostSaid);
        said_ += static_cast<char>(byte);
        continue;
      }
      *event = reader_.take(byte);
      if (*event != LineEvent::kNothing) return true;
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
