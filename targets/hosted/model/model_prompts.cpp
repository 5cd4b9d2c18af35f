// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/model/model_prompts.hpp"

#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::hosted {

std::string prompt_text(const ModelFile& file, const std::optional<std::string>& name) {
  const embert_model* model = file.model();
  const embert_model_info& info = file.info();
  if (!name) {
    const char* text = embert_model_prompt_text(model, info.default_prompt);
    return text != nullptr ? text : "";
  }
  std::string known;
  for (uint32_t i = 0; i < info.num_prompts; ++i) {
    const std::string found = embert_model_prompt_name(model, i);
    if (found == *name) return embert_model_prompt_text(model, i);
    known += (known.empty() ? "" : ", ") + one_line(found);
  }
  throw UsageError(quoted_path(file.path()) + ": the model has no prompt \"" + one_line(*name) +
                   (known.empty() ? "\"; it carries none" : "\"; it has: " + known));
}

}  // namespace embert::hosted
