// SPDX-License-Identifier: Apache-2.0
// A signal that would end the tool waits for the output.
#include "targets/cli/convert/signal_hold.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace embert::cli {
namespace {

/// The end of a process that got a signal while it held signals.
struct Outcome {
  bool reached_end;  ///< of the hold
  int status;        ///< of the process
};

Outcome signal_while_held(int signal_number, void (*handler)(int)) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(signal_number, handler);
    {
      const SignalHold hold;
      (void)raise(signal_number);
      (void)!write(ends[1], "x", 1);
    }
    _exit(7);
  }
  close(ends[1]);
  char byte = 0;
  const bool reached_end = read(ends[0], &byte, 1) == 1;
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return {reached_end, status};
}

TEST(SignalHold, EndsTheProcessBehindTheHold) {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    const Outcome outcome = signal_while_held(signal_number, SIG_DFL);
    EXPECT_TRUE(outcome.reached_end) << signal_number;
    ASSERT_TRUE(WIFSIGNALED(outcome.status)) << signal_number;
    EXPECT_EQ(WTERMSIG(outcome.status), signal_number);
  }
}

TEST(SignalHold, AnIgnoredSignalStaysIgnored) {
  const Outcome outcome = signal_while_held(SIGHUP, SIG_IGN);  // nohup
  EXPECT_TRUE(outcome.reached_end);
  ASSERT_TRUE(WIFEXITED(outcome.status));
  EXPECT_EQ(WEXITSTATUS(outcome.status), 7);
}

}  // namespace
}  // namespace embert::cli
