// SPDX-License-Identifier: Apache-2.0
// A client that gets no connection holds the thread that accepts all of them no longer than its
// answer takes, and takes no connection from a client whose request is there.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "targets/serve/http/http_server.hpp"

namespace embert::test {
namespace {

using namespace serve;

struct Pair {
  Pair() {
    int files[2] = {};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, files), 0);
    client = files[0], server = files[1], copy = dup(files[1]);
    const int room = 1 << 18;  // the default of some machines is less than the server reads
    EXPECT_EQ(setsockopt(client, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)), 0);
  }
  ~Pair() {
    close(client);
    close(copy);
  }
  int unread() const {
    int bytes = 0;
    EXPECT_EQ(ioctl(copy, FIONREAD, &bytes), 0);
    return bytes;
  }

  int client, server;
  int copy;  ///< of the server's end, which the server closes
};

TEST(RefusedClient, WhatItSendsIsNotReadWithoutEnd) {
  Limits limits;
  limits.connections = 1;
  MemoryBudget memory(limits.memory_bytes);
  int refused = 0;
  const Pair first, second;
  HttpServer server(limits, memory, [&](int status) { refused = status; });
  ASSERT_GT(write(first.client, "GET ", 4), 0);
  server.take(first.server);
  while (first.unread() > 0) std::this_thread::yield();  // until it has the only connection

  const std::string bytes(4096, 'a');
  while (write(second.client, bytes.data(), bytes.size()) > 0) {
  }
  const int sent = second.unread();
  constexpr int kMostRead = 65536;
  ASSERT_GT(sent, kMostRead);
  server.take(second.server);
  EXPECT_EQ(refused, 429);
  EXPECT_EQ(second.unread(), sent - kMostRead);
  std::string answer(1000, '\0');
  EXPECT_GT(read(second.client, answer.data(), answer.size()), 0);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 429 ")) << answer;
  EXPECT_NE(answer.find("\r\nRetry-After: 1\r\n"), std::string::npos) << answer;
  shutdown(first.client, SHUT_RDWR);
}

TEST(RefusedClient, TakesNoConnectionOfAClientWhoseRequestHasArrived) {
  Limits limits;
  limits.connections = 1;
  MemoryBudget memory(limits.memory_bytes);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Pair first, second;
    int refused = 0;
    HttpServer server(limits, memory, [&](int status) { refused = status; });
    // The head is not whole, so the request lasts; its thread may not have seen it so far.
    ASSERT_GT(write(first.client, "GET ", 4), 0);
    server.take(first.server);
    server.take(second.server);
    ASSERT_EQ(refused, 429);
    shutdown(first.client, SHUT_RDWR);
  }
}

}  // namespace
}  // namespace embert::test
