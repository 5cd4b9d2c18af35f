// SPDX-License-Identifier: Apache-2.0
// Finds the known word that is nearest to a mistyped one.
#pragma once

#include <string>
#include <vector>

namespace embert::cli {

/// Returns the known word with the fewest edits (a letter inserted, deleted, changed, or two
/// neighbours swapped; case and the kind of dash do not count), the first of equal ones. Empty if
/// each needs more than a third of its letters.
std::string nearest_word(const std::string& word, const std::vector<std::string>& known);

/// "; did you mean WORD?", or nothing if no word is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

}  // namespace embert::cli
