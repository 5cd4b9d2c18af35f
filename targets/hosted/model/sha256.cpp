// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/model/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace embert::hosted {
namespace {

constexpr size_t kBlock = 64;  // bytes

// The first 32 bits behind the point of the cube roots of the first 64 primes (section 4.2.2).
constexpr uint32_t kRoundConstants[kBlock] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

class Sha256 {
 public:
  void add_block(const uint8_t* block) {
    uint32_t words[kBlock];  // the message schedule
    for (size_t i = 0; i < 16; ++i) {
      words[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 |
                 uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
    }
    for (size_t i = 16; i < kBlock; ++i) {
      const uint32_t early = words[i - 15], late = words[i - 2];
      words[i] = words[i - 16] + words[i - 7] +
                 (std::rotr(early, 7) ^ std::rotr(early, 18) ^ early >> 3) +
                 (std::rotr(late, 17) ^ std::rotr(late, 19) ^ late >> 10);
    }
    uint32_t s[8];
    std::copy_n(state_, 8, s);
    for (size_t i = 0; i < kBlock; ++i) {
      const uint32_t one = s[7] + (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) +
                           ((s[4] & s[5]) ^ (~s[4] & s[6])) + kRoundConstants[i] + words[i];
      const uint32_t two = (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) +
                           ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
      std::copy_backward(s, s + 7, s + 8);
      s[4] += one;
      s[0] = one + two;
    }
    for (size_t i = 0; i < 8; ++i) state_[i] += s[i];
  }

  std::string hex() const {
    std::string text;
    for (const uint32_t word : state_) {
      for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
    }
    return text;
  }

 private:
  // Those of the square roots of the first 8 primes (section 5.3.3).
  uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

}  // namespace

std::string sha256(std::span<const uint8_t> bytes) {
  Sha256 state;
  const size_t rest = bytes.size() % kBlock, whole = bytes.size() - rest;
  for (size_t at = 0; at < whole; at += kBlock) state.add_block(bytes.data() + at);
  // The rest, a bit 1, zeros, and the number of bits.
  uint8_t end[2 * kBlock] = {};
  std::copy_n(bytes.data() + whole, rest, end);
  end[rest] = 0x80;
  const size_t size = rest + 9 <= kBlock ? kBlock : 2 * kBlock;
  for (size_t i = 0; i < 8; ++i) {
    end[size - 1 - i] = static_cast<uint8_t>(uint64_t{bytes.size()} * 8 >> 8 * i);
  }
  for (size_t at = 0; at < size; at += kBlock) state.add_block(end + at);
  return state.hex();
}

}  // namespace embert::hosted
