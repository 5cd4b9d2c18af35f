// SPDX-License-Identifier: Apache-2.0
// Answers the requests of connections: cpp-httplib parses a request and writes the answer; limits,
// threads and time are here.
#pragma once

#include <httplib.h>

#include <functional>
#include <string>

#include "targets/serve/http/connection_pool.hpp"
#include "targets/serve/limits.hpp"
#include "targets/serve/memory_budget.hpp"

namespace embert::serve {

class HttpServer : private httplib::Server {
 public:
  /// refused: counts an answer with this status that no route has made.
  using Refused = std::function<void(int status)>;
  HttpServer(const Limits& limits, MemoryBudget& memory, Refused refused);
  ~HttpServer() override;

  /// Add the routes before the first take().
  httplib::Server& routes() { return *this; }

  /// Takes a connected socket that does not block, and closes it in the end. Never waits.
  void take(int file);
  /// Answers what has arrived and ends the connections.
  void stop() { pool_.stop(); }
  bool is_stopping() const { return pool_.is_stopping(); }
  size_t connections() const { return pool_.connections(); }

 private:
  void refuse(int file);
  void converse(ConnectionPool::Connection& connection, const ClientSocket& socket);
  bool answer(const ClientSocket& socket, std::string& received);

  const Limits limits_;
  MemoryBudget& memory_;
  const Refused refused_;
  ConnectionPool pool_;
};

}  // namespace embert::serve
