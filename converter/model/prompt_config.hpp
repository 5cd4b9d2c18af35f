// SPDX-License-Identifier: Apache-2.0
// The prompts of a sentence-transformers model: texts that go before a text, such as "query: ".
// read_prompts() (import/config/read_prompts.hpp) fills it in.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace embert::convert {

struct PromptConfig {
  std::map<std::string, std::string> texts;  ///< by name; a text may be empty
  std::optional<std::string> default_name;   ///< one of the names
};

}  // namespace embert::convert
