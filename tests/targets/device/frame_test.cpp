// SPDX-License-Identifier: Apache-2.0
// Every framed body is read back, and nothing else is.
#include "targets/device/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace embert::device {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes framed(const Bytes& body) {
  Bytes frame(frame_bytes(body.size()));
  frame.resize(write_frame(body.data(), body.size(), frame.data()));
  return frame;
}

struct Read {
  std::vector<Bytes> bodies;
  size_t damaged = 0;
};

Read read_all(const Bytes& link, size_t capacity) {
  Bytes buffer(capacity);
  FrameReader reader(buffer.data(), buffer.size());
  Read read;
  for (const uint8_t byte : link) {
    const FrameEvent event = reader.take(byte);
    if (event == FrameEvent::kBody) {
      read.bodies.emplace_back(reader.body(), reader.body() + reader.body_bytes());
    }
    read.damaged += event == FrameEvent::kDamaged;
  }
  return read;
}

TEST(Frame, IsWhatThePaperSays) {
  // Cheshire and Baker 1999: length + 1 precedes each group, and zeros are left out. The CRC-32C
  // (RFC 3720, 12.1) follows the body, little-endian.
  const Bytes body = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  EXPECT_EQ(framed(body),
            (Bytes{0, 14, '1', '2', '3', '4', '5', '6', '7', '8', '9', 0x83, 0x92, 0x06, 0xe3, 0}));
  const Bytes zeros = framed({0, 0});
  EXPECT_EQ(Bytes(zeros.begin(), zeros.begin() + 3), (Bytes{0, 1, 1}));
}

TEST(Frame, ComesBackAtEveryLength) {
  std::mt19937 random(1);
  for (size_t size = 0; size < 1100; ++size) {
    for (const unsigned kinds : {1u, 2u, 256u}) {  // all zeros, many zeros, few
      Bytes body(size);
      for (uint8_t& byte : body) byte = static_cast<uint8_t>(random() % kinds);
      if (kinds == 256) std::replace(body.begin(), body.end(), uint8_t{0}, uint8_t{7});
      const Bytes frame = framed(body);
      ASSERT_LE(frame.size(), frame_bytes(size));
      ASSERT_EQ(std::count(frame.begin(), frame.end(), 0), 2);
      const Read read = read_all(frame, frame.size() - 2);
      ASSERT_EQ(read.bodies, std::vector<Bytes>{body}) << size;
      ASSERT_EQ(read.damaged, 0u);
      ASSERT_TRUE(read_all(frame, frame.size() - 3).bodies.empty()) << "too long for the buffer";
    }
  }
}

TEST(Frame, DamageIsSeenAndTheNextFrameFound) {
  std::mt19937 random(2);
  const Bytes good = {1, 0, 2, 3}, next = {9, 8, 7};
  const Bytes behind = framed(next);
  for (int repeat = 0; repeat < 20000; ++repeat) {
    Bytes link = framed(good);
    const size_t at = random() % link.size();
    if (repeat % 2 == 0) {
      link[at] ^= static_cast<uint8_t>(1 + random() % 255);
    } else {
      link.erase(link.begin() + static_cast<ptrdiff_t>(at));
    }
    link.insert(link.end(), behind.begin(), behind.end());
    const Read read = read_all(link, 64);
    ASSERT_FALSE(read.bodies.empty());
    ASSERT_EQ(read.bodies.back(), next);
    for (size_t i = 0; i + 1 < read.bodies.size(); ++i) ASSERT_EQ(read.bodies[i], good);
  }
}

TEST(Frame, NoiseIsNoFrame) {
  std::mt19937 random(3);
  Bytes noise(1 << 20);
  for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random() % 40);
  const Read read = read_all(noise, 64);
  EXPECT_TRUE(read.bodies.empty());
  EXPECT_GT(read.damaged, 1000u);
}

}  // namespace
}  // namespace embert::device
