// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/support/word_mutator.hpp"

#include <cstring>
#include <iterator>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace embert::fuzz {
namespace {

std::uint32_t changed(std::uint32_t word, std::span<const std::uint8_t> bytes, Random& random) {
  constexpr std::uint32_t kEnds[] = {0,          1,          2,          255,        256,
                                     0x7FFF,     0xFFFF,     0x10000,    0x1FFFFFFF, 0x3FFFFFFF,
                                     0x7FFFFFFF, 0x80000000, 0x80000001, 0xC0000001, 0xFFFFFFFF};
  switch (random.below(5)) {
    case 0:
      return kEnds[random.below(std::size(kEnds))];
    case 1:
      std::memcpy(&word, bytes.data() + 4 * random.below(bytes.size() / 4), 4);
      return word;
    case 2:
      return word + static_cast<std::uint32_t>(random.below(9)) - 4;
    case 3:
      // A tag of up to 11 low bits keeps its payload, and the other way round.
      return word ^ static_cast<std::uint32_t>(random.below(1 << 10)) << (random.below(2) * 11);
    default:
      return word ^ 1u << random.below(32);
  }
}

}  // namespace

void mutate_words(std::span<std::uint8_t> bytes, Random& random) {
  if (bytes.size() < 4) return;
  for (std::size_t changes = 1 + random.below(4); changes > 0; --changes) {
    std::uint8_t* at = bytes.data() + 4 * random.below(bytes.size() / 4);
    std::uint32_t word;
    std::memcpy(&word, at, 4);
    word = changed(word, bytes, random);
    std::memcpy(at, &word, 4);
  }
}

std::size_t mutate_bytes(std::uint8_t* data, std::size_t size, std::size_t max_size) {
  return LLVMFuzzerMutate(data, size, max_size);
}

}  // namespace embert::fuzz
