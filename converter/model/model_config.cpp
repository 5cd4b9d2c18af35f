// SPDX-License-Identifier: Apache-2.0
#include "converter/model/model_config.hpp"

namespace embert::convert {

std::vector<std::size_t> layers_of_weights(const StackConfig& config) {
  std::vector<std::size_t> counts;
  for (std::size_t l = 0; l < static_cast<std::size_t>(config.num_hidden_layers); ++l) {
    const std::size_t weights = config.weights_of(l);
    if (weights == counts.size()) counts.push_back(0);
    ++counts[weights];
  }
  return counts;
}

std::string why_no_planes(const ModelConfig& config) {
  if (config.stacks.size() > 1) return "a pair of stacks has no 16-bit inputs";
  const StackConfig& stack = config.last();
  if (stack.is_static) return "static embeddings have no layers";
  if (stack.has_bottleneck() || stack.num_ffns > 1 || !stack.layer_norms ||
      stack.has_word_projection()) {
    return "layers of MobileBERT have no 16-bit inputs";
  }
  return "";
}

}  // namespace embert::convert
