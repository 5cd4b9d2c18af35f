// SPDX-License-Identifier: Apache-2.0
// CRC-32C: published values, then every length and alignment against the scalar kernel.
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using Crc32cTest = SeededTest;

TEST_F(Crc32cTest, KnownValues) {
  uint8_t zeros[32] = {}, ones[32], rising[32], falling[32];
  memset(ones, 0xff, 32);
  for (uint8_t i = 0; i < 32; ++i) {
    rising[i] = i;
    falling[i] = static_cast<uint8_t>(31 - i);
  }
  // RFC 3720 B.4, the SCSI read command.
  const uint8_t read10[48] = {0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0, 0,
                              0x14, 0,    0, 0, 0, 0, 4, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x18,
                              0x28, 0,    0, 0, 0, 0, 0, 0, 2, 0, 0, 0,    0, 0, 0, 0};
  for (const auto& v : variants_of(&Kernels::crc32c)) {
    EXPECT_EQ(v.function(0, nullptr, 0), 0u) << v.name;
    EXPECT_EQ(v.function(0, reinterpret_cast<const uint8_t*>("123456789"), 9), 0xE3069283u)
        << v.name;
    EXPECT_EQ(v.function(0, zeros, 32), 0x8A9136AAu) << v.name;
    EXPECT_EQ(v.function(0, ones, 32), 0x62A8AB43u) << v.name;
    EXPECT_EQ(v.function(0, rising, 32), 0x46DD794Eu) << v.name;
    EXPECT_EQ(v.function(0, falling, 32), 0x113FDB5Cu) << v.name;
    EXPECT_EQ(v.function(0, read10, 48), 0xD9963A56u) << v.name;
  }
}

TEST_F(Crc32cTest, EveryLengthAndAlignment) {
  const auto variants = variants_of(&Kernels::crc32c);
  Draws draws(31);
  std::vector<size_t> sizes;
  for (size_t n = 0; n <= 300; ++n) sizes.push_back(n);
  for (size_t n = 1500; n <= 1580; ++n) sizes.push_back(n);
  for (size_t n = 3060; n <= 3090; ++n) sizes.push_back(n);
  sizes.push_back(100003);
  for (const size_t n : sizes) {
    for (size_t shift = 0; shift < (n < 4000 ? 8 : 1); ++shift) {
      Guarded<uint8_t> data(n + shift);
      for (size_t i = 0; i < n; ++i) data[i] = static_cast<uint8_t>(draws.next());
      const uint32_t start = static_cast<uint32_t>(draws.next());
      const uint32_t expected = variants[0].function(start, data.data(), n);
      for (const auto& v : variants) {
        ASSERT_EQ(v.function(start, data.data(), n), expected) << v.name << " size " << n;
        const size_t cut = draws.below(n + 1);
        ASSERT_EQ(v.function(v.function(start, data.data(), cut), data.data() + cut, n - cut),
                  expected)
            << v.name << " size " << n << " cut " << cut;
      }
    }
  }
}

}  // namespace
}  // namespace embert
