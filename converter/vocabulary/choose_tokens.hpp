// SPDX-License-Identifier: Apache-2.0
// Chooses the tokens that stay when a vocabulary is pruned. converter/README.md, "Vocabulary", has
// the rules and why a text of kept tokens has the same tokens as before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "converter/model/tokenizer_spec.hpp"

namespace embert::convert {

struct TokenChoice {
  std::vector<std::string> scripts;   ///< names; empty: those of the corpus, else all
  std::vector<std::uint64_t> counts;  ///< [tokens] in the corpus; empty: there is no corpus
  std::optional<std::size_t> size;    ///< tokens that stay
  std::vector<std::uint32_t> needed;  ///< ids that the model needs, with a token or not
};

/// [tokens] whether a token stays. Throws ConvertError for a script that is unknown or that no
/// token has, and for a size that is below what must stay or above the vocabulary.
std::vector<bool> choose_tokens(const TokenizerSpec& spec, TokenChoice choice);

}  // namespace embert::convert
