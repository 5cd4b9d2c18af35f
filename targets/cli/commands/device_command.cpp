// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/device/device_command.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <new>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/tool_error.hpp"

namespace embert::cli {

void LocalRunner::Free::operator()(void* memory) const { std::free(memory); }

LocalRunner::LocalRunner(const ModelFile& file, uint32_t max_tokens) {
  file.require_tokenizer();
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
  embedding_.resize(file.info().hidden_size);
  check(runner_.open(*file.model(), max_tokens, arena_.get(), arena_bytes,
                     {ids_.data(), type_ids_.data(), logits_.data(), embedding_.data()}),
        "TextRunner::open");
}

void add_device_command(CLI::App& app) {
  CLI::App* device = app.add_subcommand("device", "A model on a board: check it, or be one");
  device->require_subcommand(1);
  add_device_validate(*device);
  add_device_serve(*device);
  device->footer(
      "Example:\n"
      "  embert device validate intent.emb --on serial:/dev/ttyACM0 --texts sentences.txt");
}

}  // namespace embert::cli
