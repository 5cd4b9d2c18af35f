// SPDX-License-Identifier: Apache-2.0
// A small vocabulary of the repository's own with added tokens, for tests that read no files.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "converter/model/tokenizer_spec.hpp"

namespace embert::test {

convert::TokenizerSpec small_spec();

/// A byte-level BPE: ids 0..255 are the bytes, 256 + i is what merge i makes of two ids, then <s>,
/// </s> and <mask> (which takes in the white space before it) as added tokens. Templates <s> A </s>
/// and <s> A </s> </s> B </s>.
convert::TokenizerSpec small_byte_level_spec(
    const std::vector<std::array<std::uint32_t, 2>>& merges);

}  // namespace embert::test
