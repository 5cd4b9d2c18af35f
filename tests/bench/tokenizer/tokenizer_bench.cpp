// SPDX-License-Identifier: Apache-2.0
// Times the tokenizer over the lines of a file on one thread; tokenizer_bench.py runs it beside the
// Hugging Face wheel.
//   tokenizer_bench HF_DIR TEXT_FILE REPEATS
// prints one JSON object: milliseconds of each repeat, numbers of lines and tokens, a sum over the
// middle id of each line, bytes of the section.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "embert/embert_tokenizer.h"
#include "tests/bench/tokenizer/folder_tokenizer.hpp"

namespace {

using namespace embert;

int run(const char* folder, const char* file, int repeats) {
  const bench::FolderTokenizer tokenizer(folder);

  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error(std::string(file) + ": can not be read");
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::size_t longest = 0;
  for (const std::string& line : lines) longest = std::max(longest, line.size());
  const std::size_t capacity = 3 * longest + 8;
  // The outputs that the wheel's Encoding has: ids, types, offsets, word ids.
  std::vector<std::int32_t> ids(capacity), type_ids(capacity), word_ids(capacity);
  std::vector<std::uint32_t> char_offsets(2 * capacity);
  embert_tokens tokens = {};
  tokens.capacity = capacity;
  tokens.ids = ids.data();
  tokens.type_ids = type_ids.data();
  tokens.word_ids = word_ids.data();
  tokens.char_offsets = char_offsets.data();
  const embert_tokenize_options options = {.add_special_tokens = 1};
  std::size_t total = 0;
  std::uint64_t sum = 0;
  std::printf("{\"ms\": [");
  for (int i = 0; i < repeats; ++i) {
    total = 0;
    sum = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (const std::string& line : lines) {
      if (tokenize(tokenizer.view(), {line.data(), line.size(), nullptr, 0}, options, &tokens) !=
          TokenizerStatus::kOk)
        return 3;
      total += tokens.length;
      sum += static_cast<std::uint64_t>(ids[tokens.length / 2]);
    }
    const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - begin;
    std::printf("%s%.3f", i == 0 ? "" : ", ", ms.count());
  }
  std::printf("], \"lines\": %zu, \"tokens\": %zu, \"sum\": %llu, \"section_bytes\": %zu}\n",
              lines.size(), total, static_cast<unsigned long long>(sum), tokenizer.section_bytes());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: tokenizer_bench HF_DIR TEXT_FILE REPEATS\n");
    return 1;
  }
  try {
    return run(argv[1], argv[2], std::atoi(argv[3]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tokenizer_bench: %s\n", error.what());
    return 2;
  }
}
