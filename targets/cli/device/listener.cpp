// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/device/listener.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "targets/cli/io/messages.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/tool_error.hpp"

namespace embert::cli {
namespace {

std::string name_of(const sockaddr* address, socklen_t bytes) {
  char host[NI_MAXHOST], port[NI_MAXSERV];
  const int flags = NI_NUMERICHOST | NI_NUMERICSERV;
  if (getnameinfo(address, bytes, host, sizeof(host), port, sizeof(port), flags) != 0) return "?";
  const bool has_colons = std::strchr(host, ':') != nullptr;
  return (has_colons ? "[" + std::string(host) + "]" : std::string(host)) + ":" + port;
}

/// Returns a socket that listens on the address; -1: errno says why there is none.
int listen_on(const addrinfo& address) {
  const int file = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0) return -1;
  const int on = 1;
  setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  // IPv4 has a socket of its own.
  if (address.ai_family == AF_INET6) {
    setsockopt(file, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  }
  constexpr int kWaitingClients = 128;
  if (bind(file, address.ai_addr, address.ai_addrlen) == 0 && listen(file, kWaitingClients) == 0) {
    return file;
  }
  const int error = errno;
  close(file);
  errno = error;
  return -1;
}

/// Whether the machine lacks this kind of address, such as IPv6.
bool is_missing(int error) {
  return error == EAFNOSUPPORT || error == EADDRNOTAVAIL || error == EPROTONOSUPPORT;
}

}  // namespace

Listener::Listener(const std::string& address, uint16_t port) {
  const std::string service = std::to_string(port);
  const bool is_named = !address.empty() && address != "all";
  const auto fail = [&](const char* reason) {
    throw InputError((is_named ? one_line(address) + " " : std::string()) + "port " + service +
                     ": cannot listen: " + reason);
  };
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = address == "all" ? AI_PASSIVE : 0;  // without a name: all interfaces or loopback
  const int error =
      getaddrinfo(is_named ? address.c_str() : nullptr, service.c_str(), &hints, &found);
  if (error != 0) fail(gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  int missing = 0, failure = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int file = listen_on(*at);
    if (file >= 0) {
      sockets_.push_back(file);
    } else {
      (is_missing(errno) ? missing : failure) = errno;
    }
  }
  if (failure == 0 && !sockets_.empty()) return;
  for (const int file : sockets_) close(file);
  fail(std::strerror(failure != 0 ? failure : missing));
}

Listener::~Listener() {
  for (const int file : sockets_) close(file);
}

std::string Listener::names() const {
  std::string names;
  for (const int file : sockets_) {
    sockaddr_storage address = {};
    socklen_t bytes = sizeof(address);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (getsockname(file, any, &bytes) != 0) continue;
    names += (names.empty() ? "" : ", ") + name_of(any, bytes);
  }
  return names;
}

Client Listener::next(int stop_file) {
  for (;;) {
    std::vector<pollfd> waiting;
    for (const int file : sockets_) waiting.push_back({file, POLLIN, 0});
    waiting.push_back({stop_file, POLLIN, 0});  // poll() passes over -1
    if (poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) {
      throw InternalError(std::string("poll: ") + std::strerror(errno));
    }
    if (waiting.back().revents != 0) return {};
    for (const pollfd& socket : waiting) {
      if (socket.revents == 0) continue;
      sockaddr_storage address = {};
      socklen_t bytes = sizeof(address);
      auto* any = reinterpret_cast<sockaddr*>(&address);
      const int file = accept4(socket.fd, any, &bytes, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (file >= 0) {
        const int on = 1;
        setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        return {file, name_of(any, bytes)};
      }
      const int error = errno;
      if (error == EBADF || error == EINVAL || error == ENOTSOCK) {
        throw InternalError(std::string("accept: ") + std::strerror(error));
      }
      if (error == EAGAIN || error == EINTR) continue;  // the client has left
      note(std::string("a client could not be accepted: ") + std::strerror(error));
      // A lack of memory or of file numbers does not end at once.
      if (error != ECONNABORTED) std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  }
}

}  // namespace embert::cli
