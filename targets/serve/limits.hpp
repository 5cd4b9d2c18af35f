// SPDX-License-Identifier: Apache-2.0
// The bounds of the server. README.md has the table of the options that set them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace embert::serve {

struct Limits {
  uint32_t connections = 128;             ///< clients at the same time; each has a thread
  uint32_t queue = 128;                   ///< requests that wait for a model or run in it
  uint32_t texts = 2048;                  ///< of a request
  size_t body_bytes = size_t{8} << 20;    ///< of a request
  size_t memory_bytes = size_t{1} << 28;  ///< of all requests above kSmallRequest together
  std::chrono::seconds timeout{30};       ///< for a whole request to arrive, and for its answer
  std::chrono::seconds idle{60};          ///< for the next request of a connection
};

/// Bytes of request line and headers.
constexpr size_t kMostHeadBytes = size_t{16} << 10;
/// Bytes of a path with its query.
constexpr size_t kMostTargetBytes = 1024;
/// Memory of a parsed body for each of its bytes, and for each of its numbers: 16 bytes in a list,
/// which is twice as long while it grows, and moved into another one when it is destroyed.
constexpr size_t kParsedBytesPerByte = 8, kParsedBytesPerNumber = 48;
/// Memory of a request that is always there, as long as the client has a connection.
constexpr size_t kSmallRequest = size_t{64} << 10;

}  // namespace embert::serve
