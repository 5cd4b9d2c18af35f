// SPDX-License-Identifier: Apache-2.0
// TokenizerSpec -> bytes of the blob's tokenizer section (runtime/format/TOKENIZER_FORMAT.md).
#pragma once

#include <cstdint>
#include <vector>

#include "converter/model/tokenizer_spec.hpp"

namespace embert::convert {

/// The same spec gives the same bytes. Throws ConvertError where the format cannot hold the spec: a
/// token longer than 255 bytes, more than 2^20 tokens, a template of more than 8 pieces, a
/// normalised added token that is not ASCII.
std::vector<std::uint8_t> write_tokenizer_section(const TokenizerSpec& spec);

}  // namespace embert::convert
