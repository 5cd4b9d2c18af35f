// SPDX-License-Identifier: Apache-2.0
// A TCP port of this machine, whose clients come one after another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace embert::cli {

/// A connection of a client.
struct Client {
  int file = -1;     ///< a socket that does not block; the caller closes it; -1: there is none
  std::string name;  ///< such as "127.0.0.1:40112", for messages
};

class Listener {
 public:
  /// Listens on loopback if the address is empty, on all interfaces if it is "all", else on this
  /// address of the machine: IPv4 and IPv6, or the one of them that the machine has. Throws
  /// InputError.
  Listener(const std::string& address, uint16_t port);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// "127.0.0.1:7070, [::1]:7070"
  std::string names() const;
  /// Waits for the next client. A client that leaves before it is accepted is passed over. Returns
  /// none once stop_file can be read; -1: waits for ever. Throws InternalError if no client can
  /// come any more.
  Client next(int stop_file = -1);

 private:
  std::vector<int> sockets_;
};

}  // namespace embert::cli
