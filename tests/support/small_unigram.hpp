// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "converter/model/tokenizer_spec.hpp"

namespace embert::test {

/// A Unigram tokenizer of these pieces behind <unk>, which has id 0. Each text is one word, without
/// a word mark in front.
convert::TokenizerSpec unigram_spec(const std::vector<std::pair<std::string, double>>& pieces);

}  // namespace embert::test
