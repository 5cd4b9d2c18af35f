// SPDX-License-Identifier: Apache-2.0
#include "tests/support/small_tokenizer.hpp"

namespace embert::test {

convert::TokenizerSpec small_spec() {
  const std::vector<std::string> tokens = {
      "[PAD]", "[UNK]", "[CLS]", "[SEP]",     "[MASK]", "a",       "b",     "c",
      "un",    "aff",   "##aff", "##able",    "##a",    "##b",     "hello", "world",
      "hell",  "##o",   "cafe",  "caf\u00e9", "\u4e2d", "\u56fd",  "!",     ".",
      "time",  "##s",   "i",     "##\u0307",  "\u0915", "##\u093e"};
  convert::TokenizerSpec spec;
  spec.tokens = tokens;
  spec.in_vocabulary.assign(tokens.size(), true);
  spec.unk_id = 1;
  spec.cls_id = 2;
  spec.sep_id = 3;
  spec.pad_id = 0;
  spec.mask_id = 4;
  using Kind = convert::TemplatePieceSpec::Kind;
  spec.single = {{Kind::kToken, 2, 0}, {Kind::kFirstText, 0, 0}, {Kind::kToken, 3, 0}};
  spec.pair = spec.single;
  spec.pair.push_back({Kind::kSecondText, 0, 1});
  spec.pair.push_back({Kind::kToken, 3, 1});
  for (std::uint32_t id = 0; id < 5; ++id) {
    spec.added_tokens.push_back({.content = tokens[id], .id = id, .special = true});
  }
  return spec;
}

}  // namespace embert::test
