// SPDX-License-Identifier: Apache-2.0
// faulty_line SEED PERCENT COMMAND: runs a shell command and forwards its stdin and stdout, but
// loses PERCENT of the frames, sends them twice, cuts them, or changes one of their bytes. Writes
// counts on stderr.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace {

struct Faults {
  std::mt19937_64 random;
  double rate = 0;
  unsigned long frames = 0, lost = 0, repeated = 0, cut = 0, changed = 0;

  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); }

  /// Returns the bytes that arrive when a frame [zero, bytes, zero] is sent.
  std::string pass(std::string frame) {
    ++frames;
    if (std::uniform_real_distribution<>(0, 1)(random) >= rate) return frame;
    switch (below(4)) {
      case 0:
        ++lost;
        return {};
      case 1:
        ++repeated;
        return frame + frame;
      case 2:
        ++cut;
        frame.resize(below(frame.size()));
        return frame;
      default:
        ++changed;
        frame[below(frame.size())] ^= static_cast<char>(1 + below(255));
        return frame;
    }
  }
};

/// One direction of the link: bytes in, whole frames out.
struct Direction {
  int in, out;
  std::string pending;

  /// Returns false when one end has closed.
  bool pass(Faults& faults) {
    char bytes[4096];
    const ssize_t count = read(in, bytes, sizeof(bytes));
    if (count <= 0) return false;
    for (ssize_t i = 0; i < count; ++i) {
      pending += bytes[i];
      if (bytes[i] != 0 || pending.size() == 1) continue;
      const std::string arrives = faults.pass(std::move(pending));
      pending.clear();
      for (size_t at = 0; at < arrives.size();) {
        const ssize_t written = write(out, arrives.data() + at, arrives.size() - at);
        if (written <= 0) return false;
        at += static_cast<size_t>(written);
      }
    }
    return true;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: faulty_line SEED PERCENT COMMAND\n", stderr);
    return 1;
  }
  std::signal(SIGPIPE, SIG_IGN);
  int to[2], from[2];
  if (pipe(to) != 0 || pipe(from) != 0) return 3;
  const pid_t child = fork();
  if (child == 0) {
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    for (const int file : {to[0], to[1], from[0], from[1]}) close(file);
    execl("/bin/sh", "sh", "-c", argv[3], static_cast<char*>(nullptr));
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  Faults faults;
  faults.random.seed(std::strtoull(argv[1], nullptr, 10));
  faults.rate = std::strtod(argv[2], nullptr) / 100;
  Direction requests = {STDIN_FILENO, to[1], {}}, replies = {from[0], STDOUT_FILENO, {}};
  for (bool open = true; open;) {
    pollfd wanted[] = {{requests.in, POLLIN, 0}, {replies.in, POLLIN, 0}};
    if (poll(wanted, 2, -1) < 0) break;
    if (wanted[0].revents != 0) open = requests.pass(faults);
    if (open && wanted[1].revents != 0) open = replies.pass(faults);
  }
  close(to[1]);
  close(from[0]);
  kill(child, SIGTERM);
  waitpid(child, nullptr, 0);
  std::fprintf(stderr, "%lu frames: %lu lost, %lu repeated, %lu cut, %lu changed\n", faults.frames,
               faults.lost, faults.repeated, faults.cut, faults.changed);
  return 0;
}
