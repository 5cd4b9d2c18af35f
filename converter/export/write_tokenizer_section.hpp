// SPDX-License-Identifier: Apache-2.0
// TokenizerSpec -> bytes of the blob's tokenizer section (runtime/format/TOKENIZER_FORMAT.md).
#pragma once

#include <cstdint>
#include <vector>

#include "converter/model/tokenizer_spec.hpp"

namespace embert::convert {

/// The section; the same bytes for the same spec. Throws ConvertError for what the format can not
/// hold (token longer than 255 bytes, more than 2^20 tokens, template of more than 8 pieces,
/// non-ASCII normalised added token).
std::vector<std::uint8_t> write_tokenizer_section(const TokenizerSpec& spec);

}  // namespace embert::convert
