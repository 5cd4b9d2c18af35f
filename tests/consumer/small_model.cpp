// SPDX-License-Identifier: Apache-2.0
// Writes a small classifier with random weights and a tokenizer, for builds without the converter:
//   small_model FILE
#include <cstdio>

#include "converter/export/write_tokenizer_section.hpp"
#include "tests/support/small_tokenizer.hpp"
#include "tests/support/synthetic_blob.hpp"

int main(int argc, char** argv) {
  using namespace embert::test;
  if (argc != 2) return 1;
  const std::vector<std::uint8_t> blob =
      make_synthetic_blob({}, embert::convert::write_tokenizer_section(small_spec()));
  std::FILE* file = std::fopen(argv[1], "wb");
  if (file == nullptr) return 1;
  const bool whole = std::fwrite(blob.data(), 1, blob.size(), file) == blob.size();
  return std::fclose(file) == 0 && whole ? 0 : 1;
}
