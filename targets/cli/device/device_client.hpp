// SPDX-License-Identifier: Apache-2.0
// The desktop's side of the device protocol: asks until a reply comes that is whole and its own.
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

/// What went wrong on the line and was made good.
struct LineTrouble {
  uint64_t asked_again = 0;       ///< requests that were sent once more
  uint64_t damaged_replies = 0;   ///< frames that came damaged, or with no meaning
  uint64_t damaged_requests = 0;  ///< that the device said it could not read
  uint64_t stray_replies = 0;     ///< to requests that had their answer
};

struct DeviceReply {
  std::vector<uint8_t> payload;
  double seconds;  ///< from the last time it was asked until it was there
};

class DeviceClient {
 public:
  DeviceClient(Connection& connection, std::chrono::milliseconds timeout, unsigned tries);

  /// Throws InputError where no answer comes, or one that says why there can be none.
  DeviceReply ask(device::Kind kind, std::span<const uint8_t> payload, size_t payload_bytes_least);
  const LineTrouble& trouble() const { return trouble_; }

 private:
  enum class Outcome { kWait, kAskAgain, kReply };
  Outcome look_at(std::span<const uint8_t> body, device::Kind kind, size_t payload_bytes_least);
  /// Reads until a frame has come or the time is over; false: over.
  bool next_event(std::chrono::steady_clock::time_point until, device::LineEvent* event);

  /// Of a device that never came to frames, for messages.
  std::string last_words() const;

  Connection& connection_;
  std::chrono::milliseconds timeout_;
  unsigned tries_;
  uint16_t number_ = 0;
  std::vector<uint8_t> line_;
  device::FrameReader reader_;
  std::vector<uint8_t> pending_;  ///< bytes that have come and were not looked at, from next_ on
  size_t next_ = 0;
  bool among_frames_ = false;  ///< a firmware writes text before the first one ...
  std::string said_;           ///< ... this
  LineTrouble trouble_;
};

}  // namespace embert::cli
