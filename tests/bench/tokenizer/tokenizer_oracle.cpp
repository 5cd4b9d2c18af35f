// SPDX-License-Identifier: Apache-2.0
// Prints what the tokenizer of a folder makes of texts, for tokenizer_oracle.py.
//   tokenizer_oracle HF_DIR < TEXTS      texts end with a zero byte
// A line for each text: id, first and last code point of each token, without special tokens.
#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "embert/embert_tokenizer.h"
#include "tests/bench/tokenizer/folder_tokenizer.hpp"

namespace {

using namespace embert;

int run(const char* folder) {
  const bench::FolderTokenizer tokenizer(folder);
  const std::string texts{std::istreambuf_iterator<char>(std::cin), {}};
  for (std::size_t begin = 0; begin < texts.size();) {
    const std::size_t end = texts.find('\0', begin);
    const std::string text = texts.substr(begin, end - begin);
    begin = end == std::string::npos ? texts.size() : end + 1;
    std::vector<std::int32_t> ids(4 * text.size() + 8);
    std::vector<std::uint32_t> offsets(2 * ids.size());
    embert_tokens tokens = {};
    tokens.capacity = ids.size();
    tokens.ids = ids.data();
    tokens.char_offsets = offsets.data();
    if (tokenize(tokenizer.view(), {text.data(), text.size(), nullptr, 0}, {}, &tokens) !=
        TokenizerStatus::kOk)
      return 3;
    for (std::size_t i = 0; i < tokens.length; ++i)
      std::printf("%d %u %u ", ids[i], offsets[2 * i], offsets[2 * i + 1]);
    std::puts("");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: tokenizer_oracle HF_DIR < TEXTS\n");
    return 1;
  }
  try {
    return run(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tokenizer_oracle: %s\n", error.what());
    return 2;
  }
}
