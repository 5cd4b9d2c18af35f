// SPDX-License-Identifier: Apache-2.0
// Writes a small classifier with random weights and a tokenizer, for builds without the converter:
//   small_model FILE
#include <cstdio>

#include "converter/write_tokenizer_section.hpp"
#include "tests/support/synthetic_blob.hpp"

namespace embert::test {
namespace {

std::vector<std::uint8_t> tokenizer_section() {
  convert::TokenizerSpec spec;
  spec.tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "hello", "##s"};
  spec.in_vocabulary.assign(spec.tokens.size(), true);
  spec.unk_id = 1;
  spec.cls_id = 2;
  spec.sep_id = 3;
  using Piece = convert::TemplatePieceSpec;
  spec.single = {
      {Piece::Kind::kToken, 2, 0}, {Piece::Kind::kFirstText, 0, 0}, {Piece::Kind::kToken, 3, 0}};
  spec.pair = spec.single;
  spec.pair.push_back({Piece::Kind::kSecondText, 0, 1});
  spec.pair.push_back({Piece::Kind::kToken, 3, 1});
  return convert::write_tokenizer_section(spec);
}

}  // namespace
}  // namespace embert::test

int main(int argc, char** argv) {
  using namespace embert::test;
  if (argc != 2) return 1;
  const std::vector<std::uint8_t> blob = make_synthetic_blob({}, tokenizer_section());
  std::FILE* file = std::fopen(argv[1], "wb");
  if (file == nullptr) return 1;
  const bool whole = std::fwrite(blob.data(), 1, blob.size(), file) == blob.size();
  return std::fclose(file) == 0 && whole ? 0 : 1;
}
