// SPDX-License-Identifier: Apache-2.0
// Changes of 32-bit words, of which the blob and its sections are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

namespace embert::fuzz {

/// Random numbers of one mutation.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return engine_() % n; }

 private:
  std::minstd_rand engine_;
};

/// Changes one to four words of `bytes`, whose size is rounded down to words: to a value of the
/// ends of the common ranges, to a word from elsewhere, by a small number or in one bit.
void mutate_words(std::span<std::uint8_t> bytes, Random& random);

/// libFuzzer's own changes; returns the new size.
std::size_t mutate_bytes(std::uint8_t* data, std::size_t size, std::size_t max_size);

}  // namespace embert::fuzz
