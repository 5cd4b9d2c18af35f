// SPDX-License-Identifier: Apache-2.0
// embert_hosted_open, _close and what a model tells about itself.
#include "targets/hosted/c_api/hosted_calls.hpp"
#include "targets/hosted/read_struct.hpp"

using namespace embert::hosted;

static_assert(ends_with(offsetof(embert_hosted_options, reserved),
                        &embert_hosted_options::reserved));

embert_hosted_result embert_hosted_open(const char* path, const embert_hosted_options* options,
                                        embert_hosted** model) {
  return guarded([&] {
    require(model, "model");
    *model = nullptr;
    require(path, "path");
    ModelOptions chosen;
    if (options != nullptr) {
      const auto given = read_struct(options, sizeof(options->size), "embert_hosted_options");
      chosen = {.threads = given.threads,
                .max_tokens = given.max_tokens,
                .isa = given.isa != nullptr ? given.isa : "auto",
                .memory = given.map != 0 ? ModelMemory::kMapped : ModelMemory::kPrivate};
      if (given.map > 1 || given.reserved != 0) {
        throw UsageError("map: it takes 0 or 1, reserved 0");
      }
    }
    *model = new embert_hosted{{path, chosen}};
  });
}

void embert_hosted_close(embert_hosted* model) { delete model; }

const embert_model* embert_hosted_model(const embert_hosted* model) {
  return model != nullptr ? model->model.file().model() : nullptr;
}

uint32_t embert_hosted_threads(const embert_hosted* model) {
  return model != nullptr ? model->model.threads() : 0;
}

uint32_t embert_hosted_max_tokens(const embert_hosted* model) {
  return model != nullptr ? model->model.max_tokens() : 0;
}
