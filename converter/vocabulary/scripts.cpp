// SPDX-License-Identifier: Apache-2.0
#include "converter/vocabulary/scripts.hpp"

#include <algorithm>
#include <cstddef>

#include "converter/convert_error.hpp"
#include "converter/model/code_points.hpp"

namespace embert::convert {
namespace {

bool belongs_to_all(std::string_view script) { return script == "Common" || script == "Inherited"; }

std::size_t script_of(std::uint32_t code_point) {
  const auto next = std::ranges::upper_bound(kScriptRanges, code_point, {}, &ScriptRange::first);
  return std::prev(next)->script;
}

}  // namespace

ScriptSet scripts_named(const std::vector<std::string>& names) {
  ScriptSet set;
  for (const std::string& name : names) {
    const auto* const found = std::ranges::find(kScriptNames, name);
    if (found == kScriptNames.end()) {
      std::string known;
      for (const std::string_view script : kScriptNames) {
        if (!belongs_to_all(script)) known += (known.empty() ? "" : ", ") + std::string(script);
      }
      throw ConvertError("--scripts: \"" + printable(name, 40) +
                         "\" is no script of Unicode; there are " + known);
    }
    if (!belongs_to_all(name)) set.set(static_cast<std::size_t>(found - kScriptNames.begin()));
  }
  return set;
}

ScriptSet scripts_of(std::string_view text) {
  ScriptSet set;
  for (const std::uint32_t code_point : code_points(text)) {
    const std::size_t script = script_of(code_point);
    if (!belongs_to_all(kScriptNames[script])) set.set(script);
  }
  return set;
}

}  // namespace embert::convert
