// SPDX-License-Identifier: Apache-2.0
// A signal that would end the tool waits for the output.
#include "targets/cli/convert/signal_hold.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>

namespace embert::cli {
namespace {

/// The end of a process that got signals while it held them.
struct Outcome {
  bool reached_end;  ///< of the hold
  int status;        ///< of the process
};

Outcome signals_while_held(std::initializer_list<int> signals, void (*of_sighup)(int)) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGHUP, of_sighup);
    {
      const SignalHold hold;
      for (const int signal_number : signals) (void)raise(signal_number);
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
    const Outcome outcome = signals_while_held({signal_number}, SIG_DFL);
    EXPECT_TRUE(outcome.reached_end) << signal_number;
    ASSERT_TRUE(WIFSIGNALED(outcome.status)) << signal_number;
    EXPECT_EQ(WTERMSIG(outcome.status), signal_number);
  }
}

TEST(SignalHold, AnIgnoredSignalStaysIgnored) {
  const Outcome outcome = signals_while_held({SIGHUP}, SIG_IGN);  // nohup
  EXPECT_TRUE(outcome.reached_end);
  ASSERT_TRUE(WIFEXITED(outcome.status));
  EXPECT_EQ(WEXITSTATUS(outcome.status), 7);
}

TEST(SignalHold, AnIgnoredSignalDoesNotReplaceAnother) {
  const Outcome outcome = signals_while_held({SIGTERM, SIGHUP}, SIG_IGN);
  EXPECT_TRUE(outcome.reached_end);
  ASSERT_TRUE(WIFSIGNALED(outcome.status));
  EXPECT_EQ(WTERMSIG(outcome.status), SIGTERM);
}

}  // namespace
}  // namespace embert::cli
