// SPDX-License-Identifier: Apache-2.0
// libFuzzer: a hostile tokenizer section is refused with a status, or any text through it is safe
// and ends soon. An input is a section, whose header says how long it is, then CallBytes and a
// text.
#include <cstring>
#include <ctime>
#include <vector>

#include "tests/fuzz/support/check_text.hpp"
#include "tests/fuzz/support/require.hpp"
#include "tests/fuzz/support/word_mutator.hpp"
#include "tests/runtime/tokenizer/tokenizer_harness.hpp"

using namespace embert;

namespace {

constexpr std::clock_t kMostTime = 5 * CLOCKS_PER_SEC;

/// Bytes of the section at the begin of an input.
std::size_t section_bytes(const std::uint8_t* data, std::size_t size) {
  TokenizerHeader header;
  if (size < sizeof(header)) return size;
  std::memcpy(&header, data, sizeof(header));
  return header.section_bytes < size ? header.section_bytes : size;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  fuzz::Random random(seed);
  const std::size_t section = section_bytes(data, size);
  if (random.below(4) == 0) {
    return section + fuzz::mutate_bytes(data + section, size - section, max_size - section);
  }
  const std::size_t header = sizeof(TokenizerHeader) < section ? sizeof(TokenizerHeader) : section;
  fuzz::mutate_words({data, random.below(3) == 0 ? header : section}, random);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::size_t bytes = section_bytes(data, size);
  const test::Section section(std::vector<std::uint8_t>(data, data + bytes));
  TokenizerView view;
  if (section.open(&view) != TokenizerStatus::kOk) return 0;
  const std::clock_t begin = std::clock();
  fuzz::check_text(view, fuzz::TextCall(data + bytes, size - bytes));
  fuzz::require(std::clock() - begin < kMostTime, "a text ends soon");
  return 0;
}
