// SPDX-License-Identifier: Apache-2.0
// A model that runs texts on this machine exactly as a device does.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "targets/cli/tool_error.hpp"
#include "targets/device/text_runner.hpp"
#include "targets/hosted/model/model_file.hpp"

namespace embert::cli {

/// Owns the arena and the buffers of a device::TextRunner. Throws UsageError for a model without a
/// tokenizer, or where max_tokens exceeds the model's positions.
class LocalRunner {
 public:
  LocalRunner(const ModelFile& file, uint32_t max_tokens);
  device::TextRunner& runner() { return runner_; }

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Free> arena_;
  std::vector<int32_t> ids_, type_ids_;  ///< [max_tokens]
  std::vector<int32_t> logits_;          ///< [num_labels]
  std::vector<int16_t> embedding_;       ///< [vector_size]
  device::TextRunner runner_;
};

}  // namespace embert::cli
