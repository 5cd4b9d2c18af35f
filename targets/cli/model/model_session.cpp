// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/model/model_session.hpp"

#include <new>

#include "embert/embert_host.h"
#include "embert/embert_lm.h"
#include "targets/cli/io/output.hpp"
#include "targets/cli/tool_error.hpp"

namespace embert::cli {

static constexpr std::align_val_t kArenaAlignment{64};

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

void ModelSession::ArenaDeleter::operator()(void* arena) const {
  ::operator delete(arena, kArenaAlignment);
}

ModelSession::ModelSession(const ModelFile& file, uint32_t threads, uint32_t max_tokens,
                           uint32_t max_batch)
    : file_(file), options_(embert_options_default(file.model())) {
  if (max_tokens > file.info().max_positions) {
    throw UsageError(quoted_path(file.path()) + ": the model has " +
                     std::to_string(file.info().max_positions) + " positions, not " +
                     std::to_string(max_tokens));
  }
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

TextTokens ModelSession::tokenize(const std::string& text, const std::string* pair) const {
  TextItem item = {text, {}};
  if (pair != nullptr) item.pair = *pair;
  return tokenize_text(*file_.model(), item, options_.max_tokens);
}

void ModelSession::check_run(embert_status status) const {
  if (status == EMBERT_STATUS_TYPE_OUT_OF_RANGE) {
    throw UsageError(quoted_path(file_.path()) +
                     ": the model tells no second text from the first: it has " +
                     std::to_string(file_.info().type_vocab_size) + " segment ids (" +
                     embert_status_name(status) + ")");
  }
  check(status, "a pass through the model");
}

template <typename Call>
void ModelSession::run_all(const std::vector<TextTokens>& texts, Call call) const {
  for (size_t next = 0; next < texts.size();) {
    const size_t first = next;
    Batch batch;
    while (next < texts.size() && !texts[next].ids.empty() &&
           batch.lengths.size() < options_.max_batch) {
      batch.add(texts[next].ids, texts[next].type_ids);
      ++next;
    }
    if (next == first) {
      ++next;  // skips a text without tokens
      continue;
    }
    if (file_.info().is_decoder) check(embert_cache_clear(engine_), "embert_cache_clear");
    const embert_input input = batch.input();
    check_run(call(input, first));
  }
}

Rows<int16_t> ModelSession::embed(const std::vector<TextTokens>& texts,
                                  embert_pooling pooling) const {
  Rows<int16_t> rows = {file_.info().hidden_size, {}, {}};
  rows.values.resize(texts.size() * rows.width);
  run_all(texts, [&](const embert_input& input, size_t row) {
    return embert_embed(engine_, &input, pooling, rows.row(row), &rows.scale);
  });
  return rows;
}

Rows<int32_t> ModelSession::classify(const std::vector<TextTokens>& texts) const {
  Rows<int32_t> rows = {file_.info().num_labels, {}, {}};
  rows.values.resize(texts.size() * rows.width);
  run_all(texts, [&](const embert_input& input, size_t row) {
    return embert_classify(engine_, &input, rows.row(row), &rows.scale);
  });
  return rows;
}

Rows<int32_t> ModelSession::classify_tokens(const TextTokens& text) const {
  Rows<int32_t> rows = {file_.info().num_token_labels, {}, {}};
  rows.values.resize(text.ids.size() * rows.width);
  run_all({text}, [&](const embert_input& input, size_t) {
    embert_output output = {.size = sizeof(output)};
    output.token_logits = rows.values.data();
    const embert_status status = embert_run(engine_, &input, &output);
    rows.scale = output.token_logits_scale;
    return status;
  });
  return rows;
}

void ModelSession::run(const TextTokens& text) const {
  run_all({text}, [&](const embert_input& input, size_t) {
    embert_output output = {.size = sizeof(output)};
    return embert_run(engine_, &input, &output);
  });
}

}  // namespace embert::cli
