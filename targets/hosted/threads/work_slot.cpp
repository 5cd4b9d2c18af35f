// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/threads/work_slot.hpp"

#include <algorithm>
#include <new>

#include "embert/embert_lm.h"
#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::hosted {

static constexpr std::align_val_t kArenaAlignment{64};

void Batch::clear() {
  ids.clear();
  type_ids.clear();
  lengths.clear();
}

void Batch::add(const std::vector<int32_t>& text_ids, const std::vector<int32_t>& text_type_ids) {
  ids.insert(ids.end(), text_ids.begin(), text_ids.end());
  type_ids.insert(type_ids.end(), text_type_ids.begin(), text_type_ids.end());
  lengths.push_back(static_cast<uint32_t>(text_ids.size()));
}

embert_input Batch::input() const {
  embert_input input = {.size = sizeof(input)};
  input.ids = ids.data();
  input.type_ids = type_ids.empty() ? nullptr : type_ids.data();
  input.lengths = lengths.data();
  input.batch = static_cast<uint32_t>(lengths.size());
  return input;
}

void check_pass(const ModelFile& file, embert_status status) {
  if (status == EMBERT_STATUS_TYPE_OUT_OF_RANGE) {
    throw UsageError(quoted_path(file.path()) +
                     ": the model tells no second text from the first: it has " +
                     std::to_string(file.info().type_vocab_size) + " segment ids (" +
                     embert_status_name(status) + ")");
  }
  check(status, "a pass through the model");
}

void WorkSlot::ArenaDeleter::operator()(void* arena) const {
  ::operator delete(arena, kArenaAlignment);
}

WorkSlot::WorkSlot(const ModelFile& file, uint32_t max_tokens) : file_(file) {
  // With cross-attention each text has room for a source, so a pass takes one text.
  const uint32_t tokens_per_pass = file.info().cross_hidden_size > 0 ? 1 : kTokensPerPass;
  size_t most = 0;
  for (uint32_t length = 1; length <= max_tokens; ++length) {
    const embert_options shape = options({length, std::max(1u, tokens_per_pass / length)});
    size_t bytes = 0;
    check(embert_arena_bytes(file.model(), &shape, &bytes), "embert_arena_bytes");
    most = std::max(most, bytes);
  }
  reserve(most);
}

embert_options WorkSlot::options(PassShape shape) const {
  embert_options options = embert_options_default(file_.model());
  options.max_tokens = shape.max_tokens;
  options.max_batch = shape.max_batch;
  return options;
}

void WorkSlot::reserve(size_t bytes) {
  if (bytes <= arena_bytes_) return;
  engine_ = nullptr;
  arena_.reset();
  arena_bytes_ = 0;
  arena_.reset(::operator new(bytes, kArenaAlignment));
  arena_bytes_ = bytes;
}

embert_engine* WorkSlot::engine(PassShape shape) {
  if (engine_ != nullptr && shape == shape_) {
    if (file_.info().is_decoder) check(embert_cache_clear(engine_), "embert_cache_clear");
    return engine_;
  }
  const embert_options wanted = options(shape);
  size_t bytes = 0;
  check(embert_arena_bytes(file_.model(), &wanted, &bytes), "embert_arena_bytes");
  reserve(bytes);
  engine_ = nullptr;
  check(embert_engine_init(file_.model(), &wanted, arena_.get(), arena_bytes_, &engine_),
        "embert_engine_init");
  shape_ = shape;
  return engine_;
}

}  // namespace embert::hosted
