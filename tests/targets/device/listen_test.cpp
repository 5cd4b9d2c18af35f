// SPDX-License-Identifier: Apache-2.0
// embert device serve --listen: what clients do to it, and where it listens.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <string>
#include <thread>

#include "tests/support/system/filter_calls.hpp"
#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {
namespace {

const std::string kServedModel = EMBERT_BUNDLED_MODEL;
const std::string kAskedTexts = std::string(EMBERT_SOURCE_DIR) + "/targets/demo/sentences.txt";

sockaddr_in address_of(const char* host, uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

/// A port that nothing listens on.
uint16_t free_port() {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = address_of("127.0.0.1", 0);
  socklen_t bytes = sizeof(address);
  EXPECT_EQ(bind(file, reinterpret_cast<sockaddr*>(&address), bytes), 0);
  EXPECT_EQ(getsockname(file, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
  close(file);
  return ntohs(address.sin_port);
}

/// Returns a connected socket; -1 if nothing listens there.
int try_to_connect(const char* host, uint16_t port) {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = address_of(host, port);
  if (connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return file;
  close(file);
  return -1;
}

/// Waits until the tool listens.
int connect_to(uint16_t port) {
  for (int i = 0; i < 1000; ++i) {
    const int file = try_to_connect("127.0.0.1", port);
    if (file >= 0) return file;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << "nothing listens on port " << port;
  return -1;
}

/// Runs the listener while use() runs, and ends it. What it wrote on stderr comes back.
std::string serve_while(uint16_t port, std::vector<std::string> options,
                        const std::function<void()>& use) {
  ToolCall call = {{"device", "serve", kServedModel, "--listen", std::to_string(port)}, "", {}, {}};
  call.arguments.insert(call.arguments.end(), options.begin(), options.end());
  call.also = [&](pid_t tool) {
    close(connect_to(port));  // a port scan
    use();
    kill(tool, SIGTERM);
  };
  const ToolResult result = run_tool(call);
  EXPECT_EQ(result.signal, SIGTERM) << result.err;
  return result.err;
}

ToolResult ask_over_tcp(uint16_t port) {
  return run_tool({"device", "validate", kServedModel, "--on",
                   "tcp:127.0.0.1:" + std::to_string(port), "--texts", kAskedTexts});
}

TEST(Listen, ServesOneClientAfterAnotherForEver) {
  const uint16_t port = free_port();
  const std::string err = serve_while(port, {"--timeout", "1000"}, [&] {
    const int reset = connect_to(port);
    const linger at_once = {.l_onoff = 1, .l_linger = 0};
    setsockopt(reset, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    EXPECT_EQ(send(reset, "x", 1, 0), 1);
    close(reset);
    const int silent = connect_to(port);
    const int slow = connect_to(port);
    EXPECT_EQ(send(slow, "\0part", 5, 0), 5);
    EXPECT_EQ(ask_over_tcp(port).exit_code, 0);
    EXPECT_EQ(ask_over_tcp(port).exit_code, 0);
    close(silent);
    close(slow);
  });
  EXPECT_NE(err.find("left without an answer"), std::string::npos) << err;
  EXPECT_NE(err.find("Connection reset by peer"), std::string::npos) << err;
  const size_t first = err.find("no whole request");
  EXPECT_NE(first, std::string::npos) << err;
  EXPECT_NE(err.find("no whole request", first + 1), std::string::npos) << err;
}

TEST(Listen, DropsAClientThatDoesNotReadItsReplies) {
  const uint16_t port = free_port();
  const std::string err = serve_while(port, {"--timeout", "1000"}, [&] {
    const int client = connect_to(port);
    // Each two bytes are a damaged frame, of which the server sends more than it gets.
    const std::string damaged(1 << 20, '\0');
    std::string frames = damaged;
    for (size_t i = 0; i < frames.size(); i += 2) frames[i] = '\2';
    ssize_t sent = 0;
    while (sent >= 0) sent = send(client, frames.data(), frames.size(), MSG_NOSIGNAL);
    close(client);
    EXPECT_EQ(ask_over_tcp(port).exit_code, 0);
  });
  EXPECT_NE(err.find("no room for a reply"), std::string::npos) << err;
}

using Clock = std::chrono::steady_clock;

/// Sends `bytes` every `pause` and reads the replies until the server closes the connection.
/// Returns the time that it took; 5 s if the server kept the connection for so long.
std::chrono::milliseconds send_until_closed(int client, const std::string& bytes,
                                            std::chrono::milliseconds pause) {
  constexpr std::chrono::milliseconds kLongest(5000);
  const auto start = Clock::now();
  const auto taken = [&] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
  };
  std::thread reader([client] {
    char replies[4096];
    while (recv(client, replies, sizeof(replies), 0) > 0) {
    }
  });
  while (taken() < kLongest && send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0) {
    std::this_thread::sleep_for(pause);
  }
  const auto result = std::min(taken(), kLongest);
  shutdown(client, SHUT_RDWR);
  reader.join();
  return result;
}

// Neither a refusal nor bytes that keep coming give a client more time.
TEST(Listen, DropsAClientWhoseBytesAreNoRequest) {
  using std::chrono::milliseconds;
  const std::string damaged("x\0", 2);  // a frame that is refused
  std::string flood;                    // takes the server longer than the client
  for (int i = 0; i < 1 << 15; ++i) flood += damaged;
  struct Client {
    std::string bytes;
    milliseconds pause;
  };
  for (const Client& sender : {Client{damaged, milliseconds(100)}, {flood, milliseconds(0)}}) {
    SCOPED_TRACE(sender.bytes.size());
    const uint16_t port = free_port();
    const std::string err = serve_while(port, {"--timeout", "1000"}, [&] {
      const int client = connect_to(port);
      EXPECT_LT(send_until_closed(client, sender.bytes, sender.pause), milliseconds(3000));
      EXPECT_EQ(ask_over_tcp(port).exit_code, 0);
      close(client);
    });
    EXPECT_NE(err.find("no whole request"), std::string::npos) << err;
  }
}

// 127.0.0.2 is this machine, too, but not the loopback address that the tool binds.
TEST(Listen, IsOnLoopbackUnlessToldOtherwise) {
  const uint16_t port = free_port();
  const std::string err =
      serve_while(port, {}, [&] { EXPECT_EQ(try_to_connect("127.0.0.2", port), -1); });
  EXPECT_NE(err.find("listens on"), std::string::npos) << err;
  EXPECT_NE(err.find("127.0.0.1:" + std::to_string(port)), std::string::npos) << err;
  serve_while(port, {"--bind", "all"}, [&] {
    const int client = try_to_connect("127.0.0.2", port);
    EXPECT_GE(client, 0);
    close(client);
  });
}

/// Takes IPv6 from this thread and all programs that it starts, as if the machine had none.
/// Returns false if the kernel has no such filter.
bool take_ipv6() {
  constexpr uint32_t kRefuse = SECCOMP_RET_ERRNO | EAFNOSUPPORT;
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kRefuse),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  return filter_calls(steps);
}

TEST(Listen, WithoutIPv6IsOnIPv4) {
  bool taken = false;
  std::thread([&] {
    taken = take_ipv6();
    if (!taken) return;
    const int ipv6 = socket(AF_INET6, SOCK_STREAM, 0);
    ASSERT_EQ(ipv6, -1);
    const uint16_t port = free_port();
    const std::string err =
        serve_while(port, {}, [&] { EXPECT_EQ(ask_over_tcp(port).exit_code, 0); });
    EXPECT_NE(err.find("listens on 127.0.0.1:" + std::to_string(port)), std::string::npos) << err;
    EXPECT_EQ(err.find("[::"), std::string::npos) << err;
    expect_refused(run_tool({"device", "serve", kServedModel, "--listen", std::to_string(port),
                             "--bind", "::1"}),
                   2, "::1 port " + std::to_string(port) + ": cannot listen: Address family");
  }).join();
  if (!taken) GTEST_SKIP() << "NOT TESTED: no filter for system calls here";
}

TEST(Listen, RefusesAddressesThatItCanNotHave) {
  const std::string port = std::to_string(free_port());
  // 192.0.2.1 is in no network (RFC 5737).
  expect_refused(
      run_tool({"device", "serve", kServedModel, "--listen", port, "--bind", "192.0.2.1"}), 2,
      "192.0.2.1 port " + port + ": cannot listen");
  const int taken = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = address_of("127.0.0.1", 0);
  socklen_t bytes = sizeof(address);
  ASSERT_EQ(bind(taken, reinterpret_cast<sockaddr*>(&address), bytes), 0);
  ASSERT_EQ(listen(taken, 1), 0);
  ASSERT_EQ(getsockname(taken, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
  expect_refused(run_tool({"device", "serve", kServedModel, "--listen",
                           std::to_string(ntohs(address.sin_port))}),
                 2, "cannot listen: Address already in use");
  close(taken);
  EXPECT_EQ(run_tool({"device", "serve", kServedModel, "--bind", "all"}).exit_code, 1);
}

}  // namespace
}  // namespace embert::test
