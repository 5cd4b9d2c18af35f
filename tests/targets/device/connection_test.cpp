// SPDX-License-Identifier: Apache-2.0
// The link to a device keeps the time that its caller gives, whatever the device does.
#include "targets/cli/device/connection.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

#include "targets/cli/tool_error.hpp"

namespace embert::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

TEST(Connection, ReadsNothingOnceTheTimeIsUp) {
  cli::Connection flood("exec:exec yes", Clock::now() + seconds(10));
  EXPECT_FALSE(flood.read(Clock::now() + seconds(10)).empty());
  std::this_thread::sleep_for(seconds(1));  // the pipe is full again
  EXPECT_TRUE(flood.read(Clock::now()).empty());
}

TEST(Connection, WritesNothingOnceTheTimeIsUp) {
  cli::Connection ready("exec:exec cat", Clock::now() + seconds(10));
  const std::array<uint8_t, 2> bytes = {'a', 'b'};
  EXPECT_THROW(ready.write(bytes, Clock::now()), cli::InputError);
  ready.write(bytes, Clock::now() + seconds(10));
  EXPECT_EQ(ready.read(Clock::now() + seconds(10)), std::vector<uint8_t>({'a', 'b'}));
}

}  // namespace
}  // namespace embert::test
