// SPDX-License-Identifier: Apache-2.0
// A line to a device: bytes both ways, over a program's stdin and stdout, a socket or a serial
// port.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace embert::cli {

class Connection {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// "exec:COMMAND" (for the shell), "tcp:HOST:PORT" or "serial:PATH[:BAUD]". Throws UsageError for
  /// anything else, InputError where it cannot be opened by then.
  Connection(const std::string& place, Time until);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const std::string& place() const { return place_; }

  /// Throws InputError where the other end does not take all of it by then. That it has gone is for
  /// read() to find.
  void write(std::span<const uint8_t> bytes, Time until);
  /// What has come by then; empty: nothing. Throws InputError where the other end has gone.
  std::vector<uint8_t> read(Time until);

 private:
  void open_program(const std::string& command);
  void guard_program();
  void open_socket(const std::string& host_and_port, Time until);
  void open_serial(const std::string& path_and_baud);
  /// Until poll's event is there; false: the time is over.
  bool wait(int file, short event, Time until) const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string place_;
  int in_ = -1, out_ = -1;
  int child_ = -1;     ///< the shell of exec:, first of its process group
  int guardian_ = -1;  ///< a process that ends that group ...
  int alive_ = -1;     ///< ... when this is closed, as it is where a signal ends this program
};

/// Waits for one connection to a port of this machine, any interface. Throws InputError.
int accept_one(uint16_t port);

}  // namespace embert::cli
