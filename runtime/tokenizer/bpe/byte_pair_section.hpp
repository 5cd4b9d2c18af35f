// SPDX-License-Identifier: Apache-2.0
// The part of a section that belongs to a byte-level BPE.
#ifndef EMBERT_RUNTIME_TOKENIZER_BPE_BYTE_PAIR_SECTION_HPP_
#define EMBERT_RUNTIME_TOKENIZER_BPE_BYTE_PAIR_SECTION_HPP_

#include <stdint.h>

#include "runtime/format/byte_pair_format.hpp"
#include "runtime/tokenizer/bpe/byte_pair_tables.hpp"
#include "runtime/tokenizer/vocabulary.hpp"

namespace embert {

struct BytePairSection {
  const BytePairHeader* header;
  BytePairTables tables;
  const uint32_t* symbol_ids;  // [256 + merge_count]: the token of each symbol
};

/// Where the arrays of a section lie that locate_bpe has accepted.
inline BytePairSection byte_pair_section(const TokenizerView& view) {
  const uint8_t* at = model_part(view);
  const BytePairHeader* const header = reinterpret_cast<const BytePairHeader*>(at);
  at += sizeof(BytePairHeader);
  const uint32_t* const parts = reinterpret_cast<const uint32_t*>(at);
  at += padded_bytes(uint64_t{header->merge_count} * 2 * sizeof(uint32_t));
  const uint32_t* const slots = reinterpret_cast<const uint32_t*>(at);
  at += padded_bytes(uint64_t{header->pair_slot_count} * sizeof(uint32_t));
  const BytePairTables tables = {.units = view.word_units,
                                 .root = view.header->word_root,
                                 .parts = parts,
                                 .pair_slots = slots,
                                 .pair_slot_count = header->pair_slot_count,
                                 .pair_probes = header->pair_probes};
  return {header, tables, reinterpret_cast<const uint32_t*>(at)};
}

}  // namespace embert

#endif  // EMBERT_RUNTIME_TOKENIZER_BPE_BYTE_PAIR_SECTION_HPP_
