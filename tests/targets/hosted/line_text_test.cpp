// SPDX-License-Identifier: Apache-2.0
// JSON for a terminal: no control character is written as it is. JSON of others: linear time.
#include "targets/hosted/line_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/system/linear_time.hpp"

namespace embert::test {
namespace {

using namespace hosted;

TEST(LineText, JsonEscapesAllControlCharacters) {
  std::string controls;
  for (char c = 1; c < ' '; ++c) controls += c;
  controls += '\x7F';
  for (int c = 0x80; c < 0xA0; ++c) controls += {'\xC2', static_cast<char>(c)};
  const Json value = {{"key " + controls, controls}};
  for (std::string json : {json_line(value), pretty_json(value)}) {
    EXPECT_EQ(parse_json(json), value);
    std::replace(json.begin(), json.end(), '\n', ' ');
    EXPECT_EQ(one_line(json), json);
  }
  EXPECT_EQ(json_line("\x7F\xC2\x80\xC2\x9F\xC2\xA0\xC3\x80"),
            "\"\\u007f\\u0080\\u009f\xC2\xA0\xC3\x80\"");
}

TEST(LineText, ManyObjectsTakeLinearTime) {
  expect_linear_time(20'000, json_objects, [](const std::string& text) {
    EXPECT_EQ(parse_json(text).size(), text.size() / 3);
  });
}

}  // namespace
}  // namespace embert::test
