// SPDX-License-Identifier: Apache-2.0
// The merges of a byte-level BPE as numbers.
#pragma once

#include <string>
#include <vector>

#include "converter/import/tokenizer/token_table.hpp"
#include "converter/model/tokenizer_spec.hpp"

namespace embert::convert {

/// A merge of a tokenizer file: the strings of two tokens.
struct MergeEntry {
  std::string left, right;
};

/// Fills BpeSpec::merges and symbol_ids. Merges that can never happen are left out: their tokens'
/// bytes merge to something else. Throws ConvertError where the vocabulary lacks a byte or a part
/// of a merge, where a merge stands there twice, and where one comes before those that make its
/// parts.
void resolve_merges(const std::vector<MergeEntry>& entries, const TokenTable& table, BpeSpec* spec);

}  // namespace embert::convert
