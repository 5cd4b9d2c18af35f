// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/encoder_session.hpp"

#include <new>

#include "targets/cli/output.hpp"
#include "targets/cli/text_tokens.hpp"
#include "targets/cli/tool_error.hpp"

namespace embert::cli {

static constexpr std::align_val_t kArenaAlignment{64};

void Batch::add(const std::vector<int32_t>& text_ids, const std::vector<int32_t>& text_type_ids) {
  ids.insert(ids.end(), text_ids.begin(), text_ids.end());
  type_ids.insert(type_ids.end(), text_type_ids.begin(), text_type_ids.end());
  lengths.push_back(static_cast<uint32_t>(text_ids.size()));
  if (!text_ids.empty()) filled_lengths.push_back(lengths.back());
}

embert_input Batch::input() const {
  embert_input input = {};
  input.ids = ids.data();
  input.type_ids = type_ids.empty() ? nullptr : type_ids.data();
  input.lengths = filled_lengths.data();
  input.batch = static_cast<uint32_t>(filled_lengths.size());
  return input;
}

void EncoderSession::ArenaDeleter::operator()(void* arena) const {
  ::operator delete(arena, kArenaAlignment);
}

EncoderSession::EncoderSession(const ModelFile& file, uint32_t threads, uint32_t max_tokens,
                               uint32_t max_batch)
    : file_(file), options_(embert_options_default(file.model())) {
  if (max_tokens != 0) options_.max_tokens = max_tokens;
  options_.max_batch = max_batch;
  if (threads != 1) {
    pool_.reset(embert_thread_pool_create(threads));
    if (pool_ == nullptr) throw InternalError("cannot make a thread pool");
    options_.threads = embert_thread_pool_threads(pool_.get());
    if (options_.threads < threads) {
      note("--threads " + std::to_string(threads) + ": this process may use " +
           std::to_string(options_.threads));
    }
    options_.parallel_for = embert_thread_pool_parallel_for;
    options_.parallel_context = pool_.get();
  }
  check(embert_arena_bytes(file.model(), &options_, &arena_bytes_), "embert_arena_bytes");
  arena_.reset(::operator new(arena_bytes_, kArenaAlignment));
  check(embert_engine_init(file.model(), &options_, arena_.get(), arena_bytes_, &engine_),
        "embert_engine_init");
}

Batch EncoderSession::tokenize(const std::vector<std::string>& texts) const {
  Batch batch;
  for (const std::string& text : texts) {
    const TextTokens tokens = tokenize_text(*file_.model(), text, nullptr, options_.max_tokens);
    batch.add(tokens.ids, tokens.type_ids);
  }
  return batch;
}

}  // namespace embert::cli
