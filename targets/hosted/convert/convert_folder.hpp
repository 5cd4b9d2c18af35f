// SPDX-License-Identifier: Apache-2.0
// A Hugging Face folder to a model file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "converter/convert.hpp"
#include "targets/hosted/convert/convert_outputs.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::hosted {

struct ConvertArguments {
  ConvertPaths paths;
  std::string rounding = "gptq";       ///< or nearest
  std::string embeddings = "8bit";     ///< or 4bit
  std::string precision = "balanced";  ///< or fast, high
  std::string layout = "n16k4";        ///< or n8k16
  std::optional<int> max_tokens;
  std::vector<std::string> scripts;  ///< of tokens that stay
  std::optional<int> vocabulary_size;
  uint32_t threads = 0;  ///< 0: all processors that this process may use
};

struct Conversion {
  convert::ConvertResult result;
  double seconds;
};

/// Called in the caller's thread; an exception that it throws ends the conversion.
using StageReport = std::function<void(const std::string& stage, double done)>;

/// Converts in memory. Throws InputError for a folder that cannot be converted.
Conversion convert_folder(const ConvertArguments& arguments, const StageReport& report);

/// Writes the model and, where paths.report names a file, the text of the report; both appear
/// whole, or neither. Throws WriteError.
void write_conversion(const ConvertPaths& paths, const Conversion& conversion,
                      const std::string& report);

/// The summary of a conversion, a JSON object; pretty_json() makes a report of it.
Json conversion_json(const ConvertArguments& arguments, const Conversion& conversion);

}  // namespace embert::hosted
