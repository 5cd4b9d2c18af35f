// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/device/local_runner.hpp"

#include <cstdlib>
#include <new>
#include <string>

#include "targets/cli/tool_error.hpp"

namespace embert::cli {

void LocalRunner::Free::operator()(void* memory) const { std::free(memory); }

LocalRunner::LocalRunner(const ModelFile& file, uint32_t max_tokens) {
  file.require_tokenizer();
  file.require_kernels();
  embert_options options = embert_options_default(file.model());
  if (max_tokens > file.info().max_positions) {
    throw UsageError(std::to_string(max_tokens) + " tokens: the model takes at most " +
                     std::to_string(file.info().max_positions));
  }
  options.max_tokens = max_tokens;
  size_t arena_bytes = 0;
  check(embert_arena_bytes(file.model(), &options, &arena_bytes), "embert_arena_bytes");
  arena_.reset(std::aligned_alloc(64, (arena_bytes + 63) / 64 * 64));
  if (!arena_) throw std::bad_alloc();
  ids_.resize(max_tokens);
  type_ids_.resize(max_tokens);
  logits_.resize(file.info().num_labels);
  embedding_.resize(file.info().vector_size);
  check(runner_.open(*file.model(), max_tokens, arena_.get(), arena_bytes,
                     {.ids = ids_.data(),
                      .type_ids = type_ids_.data(),
                      .logits = logits_.data(),
                      .embedding = embedding_.data()}),
        "TextRunner::open");
}

}  // namespace embert::cli
