// SPDX-License-Identifier: Apache-2.0
#include "tests/support/small_tokenizer.hpp"

#include "runtime/tokenizer/utf8.hpp"

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

convert::TokenizerSpec small_byte_level_spec(
    const std::vector<std::array<std::uint32_t, 2>>& merges) {
  convert::TokenizerSpec spec;
  std::uint32_t next = 0x100;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const bool is_printable =
        (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    std::uint8_t utf8[4];
    const std::uint32_t bytes = encode_utf8(is_printable ? byte : next++, utf8);
    spec.tokens.emplace_back(utf8, utf8 + bytes);
  }
  convert::BpeSpec bpe;
  for (const auto& [left, right] : merges) {
    spec.tokens.push_back(spec.tokens[left] + spec.tokens[right]);
  }
  bpe.merges = merges;
  for (std::uint32_t id = 0; id < spec.tokens.size(); ++id) bpe.symbol_ids.push_back(id);
  const auto first = static_cast<std::uint32_t>(spec.tokens.size());
  for (const char* const token : {"<s>", "</s>", "<mask>"}) {
    const auto id = static_cast<std::uint32_t>(spec.tokens.size());
    spec.tokens.emplace_back(token);
    spec.added_tokens.push_back({.content = token,
                                 .id = id,
                                 .strip_left = token == std::string("<mask>"),
                                 .special = true});
  }
  spec.in_vocabulary.assign(spec.tokens.size(), true);
  spec.cls_id = first;
  spec.sep_id = first + 1;
  spec.mask_id = first + 2;
  using Kind = convert::TemplatePieceSpec::Kind;
  spec.single = {{Kind::kToken, first, 0}, {Kind::kFirstText, 0, 0}, {Kind::kToken, first + 1, 0}};
  spec.pair = spec.single;
  spec.pair.push_back({Kind::kToken, first + 1, 0});
  spec.pair.push_back({Kind::kSecondText, 0, 0});
  spec.pair.push_back({Kind::kToken, first + 1, 0});
  spec.model = bpe;
  return spec;
}

}  // namespace embert::test
