// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/device/connection.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <memory>
#include <thread>

#include "targets/cli/tool_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::cli {
namespace {

constexpr const char* kExpectedAddress =
    "expected exec:COMMAND, tcp:HOST:PORT or serial:PATH[:BAUD]";

struct BaudRate {
  unsigned rate;
  speed_t speed;
};
constexpr BaudRate kBaudRates[] = {{9600, B9600},     {19200, B19200},   {38400, B38400},
                                   {57600, B57600},   {115200, B115200}, {230400, B230400},
                                   {460800, B460800}, {921600, B921600}, {1000000, B1000000}};

/// Returns the number that the text holds; 0 if it holds none.
unsigned parse_number(const std::string& text) {
  const char* const end = text.data() + text.size();
  unsigned number = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? number : 0;
}

speed_t termios_speed(const std::string& text) {
  const unsigned rate = parse_number(text);
  std::string known;
  for (const BaudRate& baud : kBaudRates) {
    if (baud.rate == rate) return baud.speed;
    known += (known.empty() ? "" : ", ") + std::to_string(baud.rate);
  }
  throw UsageError("baud \"" + one_line(text) + "\": expected one of " + known);
}

}  // namespace

Connection::Connection(const std::string& address, Time until) : address_(address) {
  const size_t colon = address.find(':');
  const std::string kind = address.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : address.substr(colon + 1);
  if (rest.empty()) throw UsageError("\"" + one_line(address) + "\": " + kExpectedAddress);
  if (kind == "exec") {
    open_program(rest);
  } else if (kind == "tcp") {
    open_socket(rest, until);
  } else if (kind == "serial") {
    open_serial(rest);
  } else {
    throw UsageError("\"" + one_line(address) + "\": " + kExpectedAddress);
  }
  fcntl(out_, F_SETFL, O_NONBLOCK);  // wait() does the waiting, with a time limit
}

Connection::~Connection() {
  if (out_ >= 0 && out_ != in_) close(out_);
  if (in_ >= 0) close(in_);
  if (child_ > 0) {
    close(alive_);
    waitpid(guardian_, nullptr, 0);
    constexpr int kPatience = 100;
    for (int i = 0; i < kPatience && waitpid(child_, nullptr, WNOHANG) == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    kill(-child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
}

void Connection::fail(const std::string& reason) const {
  throw InputError(quoted_path(address_) + ": " + reason);
}

void Connection::open_program(const std::string& command) {
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) fail(std::strerror(errno));
  child_ = fork();
  if (child_ < 0) fail(std::strerror(errno));
  if (child_ == 0) {
    setpgid(0, 0);  // a group of its own: the destructor ends all that the shell started
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  setpgid(child_, child_);
  close(to[0]);
  close(from[1]);
  out_ = to[1];
  in_ = from[0];
  guard_program();
}

void Connection::guard_program() {
  int alive[2];
  if (pipe2(alive, O_CLOEXEC) != 0) fail(std::strerror(errno));
  guardian_ = fork();
  if (guardian_ < 0) fail(std::strerror(errno));
  if (guardian_ == 0) {
    setpgid(0, 0);  // out of reach of Ctrl-C
    for (const int file : {in_, out_, alive[1], STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      close(file);
    }
    char none;
    while (::read(alive[0], &none, 1) < 0 && errno == EINTR) {
    }
    kill(-child_, SIGTERM);
    _exit(0);
  }
  close(alive[0]);
  alive_ = alive[1];
}

void Connection::open_socket(const std::string& host_and_port, Time until) {
  const size_t colon = host_and_port.rfind(':');
  if (colon == std::string::npos)
    throw UsageError("\"" + one_line(address_) + "\": " + kExpectedAddress);
  std::string host = host_and_port.substr(0, colon);
  const std::string port = host_and_port.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (parse_number(port) < 1 || parse_number(port) > 65535) {
    throw UsageError("\"" + one_line(address_) + "\": port \"" + one_line(port) +
                     "\": expected 1 to 65535");
  }
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) fail(gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  int reason = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int s =
        socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol);
    if (s < 0) {
      reason = errno;
      continue;
    }
    reason = connect(s, at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
    if (reason == EINPROGRESS) {
      reason = ETIMEDOUT;
      socklen_t bytes = sizeof(reason);
      if (wait(s, POLLOUT, until)) getsockopt(s, SOL_SOCKET, SO_ERROR, &reason, &bytes);
    }
    if (reason == 0) {
      const int on = 1;
      setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      in_ = out_ = s;
      return;
    }
    close(s);
  }
  fail(std::strerror(reason));
}

void Connection::open_serial(const std::string& path_and_baud) {
  // Paths of /dev/serial/by-path have colons; one that exists as it stands has no baud behind it.
  const size_t colon =
      access(path_and_baud.c_str(), F_OK) == 0 ? std::string::npos : path_and_baud.rfind(':');
  const std::string path = path_and_baud.substr(0, colon);
  const speed_t speed =
      termios_speed(colon == std::string::npos ? "115200" : path_and_baud.substr(colon + 1));
  // O_NONBLOCK: open() would wait for a carrier. All reads and writes wait in poll().
  in_ = out_ = open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  termios settings = {};
  if (in_ < 0 || tcgetattr(in_, &settings) != 0) fail(std::strerror(errno));
  cfmakeraw(&settings);
  settings.c_cflag |= CLOCAL | CREAD;
  // The port keeps the flow control and the two stop bits that another program has set.
  settings.c_cflag &= ~static_cast<tcflag_t>(CRTSCTS | CSTOPB);
  settings.c_iflag &= ~static_cast<tcflag_t>(IXOFF);
  cfsetispeed(&settings, speed);
  cfsetospeed(&settings, speed);
  if (tcsetattr(in_, TCSANOW, &settings) != 0) fail(std::strerror(errno));
}

bool Connection::wait(int file, short event, Time until) const {
  using std::chrono::milliseconds;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;  // although poll() may find bytes: a device can flood
    pollfd wanted = {file, event, 0};
    const int ready = poll(&wanted, 1, static_cast<int>(std::min<int64_t>(left.count(), 1 << 30)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) fail(std::strerror(errno));
  }
}

void Connection::write(std::span<const uint8_t> bytes, Time until) {
  while (!bytes.empty()) {
    if (!wait(out_, POLLOUT, until)) fail("the device takes no more bytes");
    const ssize_t count = ::write(out_, bytes.data(), bytes.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0 && errno == EPIPE) return;  // read() returns its last bytes and then fails
    if (count < 0) fail(std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
}

std::vector<uint8_t> Connection::read(Time until) {
  while (wait(in_, POLLIN, until)) {
    std::vector<uint8_t> bytes(4096);
    const ssize_t count = ::read(in_, bytes.data(), bytes.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) fail(count == 0 ? "the device has gone" : std::strerror(errno));
    bytes.resize(static_cast<size_t>(count));
    return bytes;
  }
  return {};
}

}  // namespace embert::cli
