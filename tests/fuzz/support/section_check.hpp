// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "converter/model/tokenizer_spec.hpp"

namespace embert::fuzz {

/// The runtime opens the section that the converter writes of a tokenizer, and some texts through
/// it are as they must be. Throws ConvertError where the converter refuses the tokenizer.
void check_section_of(const convert::TokenizerSpec& spec);

}  // namespace embert::fuzz
