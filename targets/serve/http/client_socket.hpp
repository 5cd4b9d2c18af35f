// SPDX-License-Identifier: Apache-2.0
// A connection to a client. Each call has a deadline, so that no client can hold a thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace embert::serve {

using Deadline = std::chrono::steady_clock::time_point;

class ClientSocket {
 public:
  /// file: a connected socket that does not block; it is closed in the end.
  explicit ClientSocket(int file) : file_(file) {}
  ~ClientSocket();
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;

  /// Returns whether bytes, or the end, have arrived before the deadline.
  bool wait_readable(Deadline deadline) const;
  /// Returns the bytes that arrived, 1 to count. 0: the client closed, or the deadline has passed.
  size_t receive(char* bytes, size_t count, Deadline deadline) const;
  /// Returns whether the client's side of the connection took all bytes.
  bool send(std::string_view bytes, Deadline deadline) const;
  /// Ends the connection behind an answer that the client may still be sending for: reads what
  /// comes for a while, because a close with unread bytes makes the system drop the answer.
  void linger() const;

  int file() const { return file_; }
  /// The address that the client called, in numbers.
  std::string local_address() const;

 private:
  bool wait(short event, Deadline deadline) const;

  int file_;
};

}  // namespace embert::serve
