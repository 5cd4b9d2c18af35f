// SPDX-License-Identifier: Apache-2.0
// The desktop's side of the device protocol: repeats a request until its whole reply arrives.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "targets/cli/device/connection.hpp"
#include "targets/device/frame.hpp"
#include "targets/device/protocol.hpp"

namespace embert::cli {

/// Counts of the link's errors from which the client recovered.
struct LinkErrors {
  uint64_t asked_again = 0;       ///< repetitions of requests
  uint64_t damaged_replies = 0;   ///< frames that arrived damaged or with a wrong header
  uint64_t damaged_requests = 0;  ///< frames that the device refused as damaged
  uint64_t stray_replies = 0;     ///< replies to earlier requests
};

struct DeviceReply {
  std::vector<uint8_t> payload;
  double seconds;  ///< from the last repetition of the request to its reply
};

class DeviceClient {
 public:
  DeviceClient(Connection& connection, std::chrono::milliseconds timeout, unsigned tries);

  /// Sends a request and returns its reply, whose payload has at least min_reply_bytes. Throws
  /// InputError if no reply arrives or the device refuses the request.
  DeviceReply ask(device::Kind kind, std::span<const uint8_t> payload, size_t min_reply_bytes);
  const LinkErrors& errors() const { return errors_; }

 private:
  enum class Outcome { kWait, kAskAgain, kReply };
  /// Decides on a frame that arrived after a request of this kind.
  Outcome examine(std::span<const uint8_t> body, device::Kind kind, size_t min_reply_bytes);
  /// Reads until a frame ends. Returns false if `until` comes first.
  bool next_event(std::chrono::steady_clock::time_point until, device::FrameEvent* event);

  /// For messages: the last line of a device that has not sent any frame.
  std::string last_words() const;

  Connection& connection_;
  std::chrono::milliseconds timeout_;
  unsigned tries_;
  uint16_t number_ = 0;          ///< of the last request
  std::vector<uint8_t> buffer_;  ///< for the longest reply
  device::FrameReader reader_;
  std::vector<uint8_t> pending_;  ///< bytes that arrived; those before next_ are done
  size_t next_ = 0;
  bool has_frames_ = false;   ///< the first zero byte has arrived
  std::string startup_text_;  ///< the firmware's text before that byte
  LinkErrors errors_;
};

}  // namespace embert::cli
