// SPDX-License-Identifier: Apache-2.0
// The link to a device: bytes both ways, over a program's stdin and stdout, a TCP socket or a
// serial port.
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

  /// address: "exec:COMMAND" (for the shell), "tcp:HOST:PORT" or "serial:PATH[:BAUD]". Throws
  /// UsageError for any other address, InputError if it cannot be opened before `until`.
  Connection(const std::string& address, Time until);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const std::string& address() const { return address_; }

  /// Throws InputError if the device does not take all bytes before `until`. If the device has
  /// closed the link, write() returns and the next read() throws.
  void write(std::span<const uint8_t> bytes, Time until);
  /// Returns the bytes that arrive, as soon as there are some; none if `until` comes first. Throws
  /// InputError if the device has closed the link.
  std::vector<uint8_t> read(Time until);

 private:
  void open_program(const std::string& command);
  void guard_program();
  void open_socket(const std::string& host_and_port, Time until);
  void open_serial(const std::string& path_and_baud);
  /// Waits for an event of poll(). Returns false if `until` comes first, or has come.
  bool wait(int file, short event, Time until) const;
  [[noreturn]] void fail(const std::string& reason) const;

  std::string address_;
  int in_ = -1, out_ = -1;
  int child_ = -1;     ///< the shell of exec:, the leader of its process group
  int guardian_ = -1;  ///< a process that ends this group when alive_ closes
  int alive_ = -1;     ///< a pipe that stays open as long as this program runs
};

}  // namespace embert::cli
