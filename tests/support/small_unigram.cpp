// SPDX-License-Identifier: Apache-2.0
#include "tests/support/small_unigram.hpp"

namespace embert::test {

convert::TokenizerSpec unigram_spec(const std::vector<std::pair<std::string, double>>& pieces) {
  convert::TokenizerSpec spec;
  convert::UnigramSpec unigram;
  spec.tokens = {"<unk>"};
  unigram.scores = {0.0};
  for (const auto& [piece, score] : pieces) {
    spec.tokens.push_back(piece);
    unigram.scores.push_back(score);
  }
  spec.in_vocabulary.assign(spec.tokens.size(), true);
  spec.unk_id = 0;
  using Kind = convert::TemplatePieceSpec::Kind;
  spec.single = {{Kind::kFirstText, 0, 0}};
  spec.pair = {{Kind::kFirstText, 0, 0}, {Kind::kSecondText, 0, 0}};
  convert::PreTokenizerStep metaspace;
  metaspace.kind = convert::PreTokenizerStep::Kind::kMetaspace;
  metaspace.replacement = "\u2581";
  metaspace.prepend = convert::PreTokenizerStep::Prepend::kNever;
  metaspace.split = false;
  unigram.pre_tokenizer = {metaspace};
  spec.model = unigram;
  return spec;
}

}  // namespace embert::test
