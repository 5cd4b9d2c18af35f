// SPDX-License-Identifier: Apache-2.0
#include "targets/serve/http/http_server.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "targets/serve/http/request_head.hpp"
#include "targets/serve/request_error.hpp"

namespace embert::serve {
namespace {

using Clock = std::chrono::steady_clock;

/// An answer without cpp-httplib, behind which the connection ends.
std::string last_answer(const RequestError& error) {
  const std::string body = error_json(error);
  return "HTTP/1.1 " + std::to_string(error.status) +
         " Refused\r\nContent-Type: application/json\r\nConnection: close\r\n" +
         (error.status == 429 ? "Retry-After: 1\r\n" : "") +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// One request as cpp-httplib reads it: the checked head, then as many bytes of the body as the
/// head says.
class RequestStream : public httplib::Stream {
 public:
  /// received: what has arrived behind the head; the bytes of the body are taken off it.
  RequestStream(const RequestHead& head, std::string& received, const ClientSocket& socket,
                const Limits& limits, Deadline read_until)
      : head_(head.text),
        body_left_(head.body_bytes),
        client_waits_(head.waits_to_send && head.body_bytes > 0 && received.empty()),
        received_(received),
        socket_(socket),
        timeout_(limits.timeout),
        read_until_(read_until) {}

  bool is_readable() const override { return true; }
  bool is_writable() const override { return !failed_; }
  ssize_t read(char* bytes, size_t count) override;
  ssize_t write(const char* bytes, size_t count) override;
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string& ip, int&) const override { ip = socket_.local_address(); }
  // The library reads and writes through the stream; it compares this number with FD_SETSIZE.
  socket_t socket() const override { return 0; }

  /// Drops what a refused request has left of a small body. Returns whether the connection can be
  /// used for another request.
  bool finish();

 private:
  std::string_view head_;
  size_t body_left_;
  bool client_waits_;  ///< for a word that it may send the body
  std::string& received_;
  const ClientSocket& socket_;
  std::chrono::seconds timeout_;
  Deadline read_until_;
  std::optional<Deadline> write_until_;
  bool cut_ = false;     ///< the body did not come whole
  bool failed_ = false;  ///< the answer did not go out whole
};

ssize_t RequestStream::read(char* bytes, size_t count) {
  if (!head_.empty()) {
    count = std::min(count, head_.size());
    std::copy_n(head_.data(), count, bytes);
    head_.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }
  count = std::min(count, body_left_);
  if (count == 0) return 0;
  if (client_waits_) {
    socket_.send("HTTP/1.1 100 Continue\r\n\r\n", Clock::now() + timeout_);
    client_waits_ = false;
  }
  if (!received_.empty()) {
    count = std::min(count, received_.size());
    std::copy_n(received_.data(), count, bytes);
    received_.erase(0, count);
  } else {
    count = socket_.receive(bytes, count, read_until_);
    if (count == 0) {
      cut_ = true;  // the client may still read the answer
      return -1;
    }
  }
  body_left_ -= count;
  return static_cast<ssize_t>(count);
}

ssize_t RequestStream::write(const char* bytes, size_t count) {
  // The time that the answer took to make does not count.
  if (!write_until_) write_until_ = Clock::now() + timeout_;
  if (failed_ || !socket_.send({bytes, count}, *write_until_)) {
    failed_ = true;
    return -1;
  }
  return static_cast<ssize_t>(count);
}

bool RequestStream::finish() {
  char dropped[4096];
  if (body_left_ > kSmallRequest || client_waits_) return false;
  while (body_left_ > 0 && read(dropped, sizeof dropped) > 0) {
  }
  return !cut_ && !failed_;
}

/// Reads until `received` begins with a whole head. Returns its bytes; 0: the client left. Throws
/// RequestError for a head that is too long, or not whole at the deadline.
size_t read_head(const ClientSocket& socket, std::string& received, Deadline deadline) {
  char bytes[4096];
  for (size_t searched = 0;;) {
    const size_t end = received.find("\r\n\r\n", searched);
    if (end != std::string::npos && end + 4 <= kMostHeadBytes) return end + 4;
    if (received.size() >= kMostHeadBytes) {
      throw RequestError(
          431, "head_too_large",
          "request line and headers have more than " + grouped(kMostHeadBytes) + " bytes");
    }
    searched = received.size() < 3 ? 0 : received.size() - 3;
    const size_t count = socket.receive(bytes, sizeof bytes, deadline);
    if (count > 0) {
      received.append(bytes, count);
    } else if (Clock::now() >= deadline) {
      throw RequestError(408, "timeout", "the request did not arrive in time (--timeout)");
    } else {
      return 0;
    }
  }
}

}  // namespace

HttpServer::HttpServer(const Limits& limits, MemoryBudget& memory, Refused refused)
    : limits_(limits),
      memory_(memory),
      refused_(std::move(refused)),
      pool_(limits.connections, [this](ConnectionPool::Connection& connection,
                                       ClientSocket& socket) { converse(connection, socket); }) {
  set_keep_alive_timeout(static_cast<time_t>(limits.idle.count()));
  set_keep_alive_max_count(1000000);  // the server sets no bound, and the header names one
}

HttpServer::~HttpServer() { pool_.stop(); }

void HttpServer::take(int file) {
  try {
    if (pool_.take(file)) return;
  } catch (const std::bad_alloc&) {  // the client is refused, the server goes on
  }
  try {
    refuse(file);
  } catch (const std::bad_alloc&) {
  }
  close(file);
}

/// Never waits: all other clients wait for this thread.
void HttpServer::refuse(int file) {
  refused_(429);
  const std::string answer =
      last_answer({429, "too_many_connections",
                   "all " + std::to_string(limits_.connections) +
                       " connections have a request (--connections); try again later"});
  // A close with unread bytes makes the system drop the answer. Who sends on and on goes without.
  constexpr int kMostReads = 4;
  char dropped[kMostHeadBytes];
  for (int reads = 0; reads < kMostReads && recv(file, dropped, sizeof dropped, MSG_DONTWAIT) > 0;
       ++reads) {
  }
  (void)!send(file, answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void HttpServer::converse(ConnectionPool::Connection& connection, const ClientSocket& socket) {
  std::string received;
  try {
    while (!received.empty() || pool_.wait_for_request(connection, socket, limits_.idle)) {
      if (!answer(socket, received)) return;
    }
  } catch (const RequestError& error) {
    refused_(error.status);
    if (socket.send(last_answer(error), Clock::now() + limits_.timeout)) socket.linger();
  } catch (const std::exception&) {  // no memory: the connection ends, the server goes on
    refused_(503);
  }
}

/// Answers one request; whether the connection can have another one.
bool HttpServer::answer(const ClientSocket& socket, std::string& received) {
  const Deadline read_until = Clock::now() + limits_.timeout;
  const size_t head_bytes = read_head(socket, received, read_until);
  if (head_bytes == 0) return false;
  const RequestHead head =
      checked_head(std::string_view(received).substr(0, head_bytes), limits_.body_bytes);
  received.erase(0, head_bytes);
  // After a refusal such a client sends its body or not: nobody knows what the next bytes are, so
  // the connection ends with the answer.
  const bool waits_to_send = head.waits_to_send && head.body_bytes > 0;
  const bool is_last = !head.keep_alive || waits_to_send || pool_.is_stopping();
  bool finished = false;
  {
    const RequestMemory memory(memory_);  // the handlers take what the request needs
    RequestStream stream(head, received, socket, limits_, read_until);
    bool wants_close = false;
    const auto set_headers = [&](httplib::Request& request) {
      if (head.host) request.set_header("Host", *head.host);
      request.set_header("Authorization", head.authorization);
      request.set_header("Content-Type", head.content_type);
    };
    finished = process_request(stream, is_last, wants_close, set_headers) && stream.finish();
  }
  if (!finished) socket.linger();
  return finished && !is_last;
}

}  // namespace embert::serve
