// SPDX-License-Identifier: Apache-2.0
// embert device: a model on another machine, or this one as the other machine.
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <vector>

#include "targets/cli/io/model_file.hpp"
#include "targets/device/text_runner.hpp"

namespace embert::cli {

void add_device_validate(CLI::App& device);
void add_device_serve(CLI::App& device);

/// A model that runs texts as a device does, with memory of its own. Throws UsageError for a model
/// without tokenizer or max_tokens that it does not take.
class LocalRunner {
 public:
  LocalRunner(const ModelFile& file, uint32_t max_tokens);
  device::TextRunner& runner() { return runner_; }

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Free> arena_;
  std::vector<int32_t> ids_, type_ids_, logits_;
  std::vector<int16_t> embedding_;
  device::TextRunner runner_;
};

}  // namespace embert::cli
