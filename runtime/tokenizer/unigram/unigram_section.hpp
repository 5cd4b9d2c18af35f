// SPDX-License-Identifier: Apache-2.0
// The part of a validated section that belongs to Unigram.
#ifndef EMBERT_RUNTIME_TOKENIZER_UNIGRAM_UNIGRAM_SECTION_HPP_
#define EMBERT_RUNTIME_TOKENIZER_UNIGRAM_UNIGRAM_SECTION_HPP_

#include <stdint.h>

#include "runtime/format/tokenizer_format.hpp"
#include "runtime/tokenizer/vocabulary.hpp"

namespace embert {

struct UnigramSection {
  const UnigramHeader* header;
  const int32_t* scores;     // [token_count], on the grid of kScoreOne
  const uint8_t* charsmap;   // [charsmap_bytes]
  const uint32_t* byte_ids;  // [256], kNoToken where a byte has no piece; only with byte fallback

  bool has(uint32_t flag) const { return (header->flags & flag) != 0; }
  int64_t unknown_score() const {
    return static_cast<int64_t>(uint64_t{header->unknown_score[1]} << 32 |
                                header->unknown_score[0]);
  }
};

inline UnigramSection unigram_section(const TokenizerView& view) {
  const uint8_t* at = model_part(view);
  UnigramSection section = {};
  section.header = reinterpret_cast<const UnigramHeader*>(at);
  at += sizeof(UnigramHeader);
  section.scores = reinterpret_cast<const int32_t*>(at);
  at += padded_bytes(uint64_t{view.header->token_count} * sizeof(int32_t));
  section.charsmap = at;
  at += padded_bytes(section.header->charsmap_bytes);
  section.byte_ids = reinterpret_cast<const uint32_t*>(at);
  return section;
}

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_UNIGRAM_UNIGRAM_SECTION_HPP_
