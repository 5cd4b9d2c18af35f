// SPDX-License-Identifier: Apache-2.0
#include "targets/serve/http/client_socket.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace embert::serve {

using Clock = std::chrono::steady_clock;

ClientSocket::~ClientSocket() { close(file_); }

bool ClientSocket::wait(short event, Deadline deadline) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wanted = {file_, event, 0};
    const int ready = poll(&wanted, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 3600000)));
    if (ready > 0) return true;
    if (ready < 0 && errno == EINTR) continue;
    return false;
  }
}

bool ClientSocket::wait_readable(Deadline deadline) const { return wait(POLLIN, deadline); }

size_t ClientSocket::receive(char* bytes, size_t count, Deadline deadline) const {
  for (;;) {
    // A client that sends byte after byte always has the next one ready.
    if (Clock::now() >= deadline) return 0;
    const ssize_t received = recv(file_, bytes, count, 0);
    if (received >= 0) return static_cast<size_t>(received);
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return 0;
    if (!wait_readable(deadline)) return 0;
  }
}

bool ClientSocket::send(std::string_view bytes, Deadline deadline) const {
  while (!bytes.empty()) {
    if (Clock::now() >= deadline) return false;
    const ssize_t sent = ::send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait(POLLOUT, deadline)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void ClientSocket::linger() const {
  constexpr std::chrono::seconds kPatience{2};
  shutdown(file_, SHUT_WR);
  const Deadline deadline = Clock::now() + kPatience;
  char dropped[16384];
  while (receive(dropped, sizeof dropped, deadline) > 0) {
  }
}

std::string ClientSocket::local_address() const {
  sockaddr_storage address = {};
  socklen_t bytes = sizeof address;
  char text[NI_MAXHOST] = "";
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (getsockname(file_, generic, &bytes) == 0) {
    (void)getnameinfo(generic, bytes, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  }
  return text;
}

}  // namespace embert::serve
