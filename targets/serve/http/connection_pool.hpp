// SPDX-License-Identifier: Apache-2.0
// A fixed number of threads, each with one connection at a time. Where all have one, the connection
// that has waited longest for its next request ends in favour of a new one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "targets/serve/http/client_socket.hpp"

namespace embert::serve {

class ConnectionPool {
 public:
  /// A client; the members belong to the pool's mutex.
  struct Connection {
    int file;
    /// Since when no thread has found a request of the client; none: it has one.
    std::optional<std::chrono::steady_clock::time_point> idle_since;
    bool is_leaving = false;  ///< in favour of another client
  };
  using Converse = std::function<void(Connection& connection, ClientSocket& socket)>;

  /// converse: talks to a client in one of `connections` threads; it must not throw. Throws
  /// InternalError if the threads cannot be had.
  ConnectionPool(uint32_t connections, Converse converse);
  ~ConnectionPool();
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;

  /// Gives the socket to a thread, which closes it. False: all connections have a request, and the
  /// socket is still the caller's.
  bool take(int file);

  /// Waits for the first byte of a request. False: the connection shall end.
  bool wait_for_request(Connection& connection, const ClientSocket& socket,
                        std::chrono::seconds patience);

  /// Ends the idle connections, and the others behind the answer that they wait for.
  void stop();
  bool is_stopping() const;
  size_t connections() const;

 private:
  void work();
  /// The connection that has been idle longest and stays so far; null: there is none.
  Connection* longest_idle();

  const uint32_t most_;
  const Converse converse_;
  mutable std::mutex mutex_;  ///< of all members below
  std::condition_variable wake_;
  std::list<Connection> accepted_;  ///< without a thread so far
  std::list<Connection> open_;      ///< with a thread
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace embert::serve
