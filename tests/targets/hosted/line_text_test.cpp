// SPDX-License-Identifier: Apache-2.0
// JSON for a terminal: no control character is written as it is. JSON of others: linear time.
#include "targets/hosted/line_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

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

// Four times the text may take six times as long, with some room for a busy machine.
TEST(LineText, ManyObjectsTakeLinearTime) {
  const auto seconds = [](size_t objects) {
    std::string text = "[{}";
    for (size_t i = 1; i < objects; ++i) text += ",{}";
    text += "]";
    double best = 1e9;
    for (int k = 0; k < 3; ++k) {
      const std::clock_t begin = std::clock();
      EXPECT_EQ(parse_json(text).size(), objects);
      best = std::min(best, double(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    return best;
  };
  EXPECT_LT(seconds(80'000), 8 * seconds(20'000) + 0.02);
}

}  // namespace
}  // namespace embert::test
