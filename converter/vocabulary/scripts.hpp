// SPDX-License-Identifier: Apache-2.0
// Unicode scripts of texts. Common (digits, punctuation, symbols) and Inherited (marks on letters
// of any script) belong to every script and are left out.
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "converter/vocabulary/script_tables.hpp"

namespace embert::convert {

using ScriptSet = std::bitset<kScriptCount>;

/// Names as in Unicode's Scripts.txt. Throws ConvertError for another name.
ScriptSet scripts_named(const std::vector<std::string>& names);
/// The scripts of the characters of `text`; bytes that are no UTF-8 have none.
ScriptSet scripts_of(std::string_view text);

}  // namespace embert::convert
