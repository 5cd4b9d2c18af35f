// SPDX-License-Identifier: Apache-2.0
// Greedy decoding and sampling. Each step runs the decoder on one token, ranks the next token with
// the language model's head, and takes one of the best.
#include "runtime/generation/generate.hpp"

#include "runtime/engine/check_input.hpp"
#include "runtime/engine/kv_cache.hpp"

namespace embert {
namespace {

constexpr size_t kMaxSampled = 65536;

embert_status check_generate_options(const embert_generate_options& options) {
  const embert_sample_options& sample = options.sample;
  const bool drawn_ok = sample.temperature_q16 >= 1 && sample.top_p >= 1 &&
                        sample.top_p <= EMBERT_Q30_ONE && sample.top_k >= 1 &&
                        sample.top_k <= kMaxSampled;
  const bool ok = options.max_new_tokens >= 1 && options.beams >= 1 && options.beams <= kMaxBatch &&
                  (options.random == nullptr || (options.beams == 1 && drawn_ok));
  return ok ? EMBERT_STATUS_OK : EMBERT_STATUS_INVALID_OPTION;
}

/// Candidates for the next token, without beams.
size_t choices(const embert_generate_options& options) {
  return options.random == nullptr ? 1 : options.sample.top_k;
}

/// Greedy decoding, or sampling. The workspace is candidates [choices].
embert_status follow_one(const Prompt& prompt, embert_candidate* candidates,
                         embert_generation* generation) {
  const embert_generate_options& options = prompt.options;
  const int32_t* ids = prompt.ids;
  uint32_t length = prompt.length, count = 0;
  embert_log2_q26 log2_score = 0;
  for (;;) {
    embert_status status = append_tokens(prompt.engine, ids, &length, 1);
    if (status != EMBERT_STATUS_OK) return status;
    size_t found = 0, taken = 0;
    embert_scale scale;
    status = embert_lm_top(prompt.engine, length - 1, choices(options), candidates, &found, nullptr,
                           &scale);
    if (status == EMBERT_STATUS_OK && options.random != nullptr) {
      status = embert_sample_candidate(candidates, found, scale, &options.sample,
                                       options.random(options.random_context), &taken);
    }
    if (status != EMBERT_STATUS_OK) return status;

    ids = generation->ids + count;
    length = 1;
    generation->ids[count++] = candidates[taken].id;
    log2_score += candidates[taken].log2_score;
    const bool ended = static_cast<uint32_t>(candidates[taken].id) == options.end_id;
    if (ended || count == prompt.most_new) {
      generation->count = count;
      generation->finish = ended ? EMBERT_FINISH_END : prompt.at_most;
      generation->log2_score = log2_score;
      return EMBERT_STATUS_OK;
    }
  }
}

}  // namespace

embert_status append_tokens(embert_engine* engine, const int32_t* ids, const uint32_t* lengths,
                            uint32_t texts) {
  embert_input input = {};
  input.ids = ids;
  input.lengths = lengths;
  input.batch = texts;
  embert_output output = {};
  return embert_run(engine, &input, &output);
}

}  // namespace embert

embert_generate_options embert_generate_options_default(const embert_model* model) {
  embert_generate_options options = {};
  options.max_new_tokens = 20;
  options.end_id = model != nullptr ? embert::model_of(*model).header->end_id : UINT32_MAX;
  options.beams = 1;
  options.sample = {65536, EMBERT_Q30_ONE, 50};
  return options;
}

embert_status embert_generate_bytes(const embert_generate_options* options,
                                    size_t* workspace_bytes) {
  using namespace embert;
  if (options == nullptr || workspace_bytes == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const embert_status status = check_generate_options(*options);
  if (status != EMBERT_STATUS_OK) return status;
  *workspace_bytes =
      options->beams > 1 ? beam_bytes(*options) : choices(*options) * sizeof(embert_candidate);
  return EMBERT_STATUS_OK;
}

embert_status embert_generate(embert_engine* engine, const embert_generate_options* options,
                              const int32_t* prompt_ids, size_t prompt_length, void* workspace,
                              size_t workspace_bytes, embert_generation* generation) {
  using namespace embert;
  if (engine == nullptr || options == nullptr || workspace == nullptr || generation == nullptr ||
      generation->ids == nullptr || (prompt_ids == nullptr && prompt_length > 0)) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  const BlobHeader& header = *engine->model.header;
  size_t needed = 0;
  embert_status status = embert_generate_bytes(options, &needed);
  if (status != EMBERT_STATUS_OK) return status;
  if (!is_decoder(*engine)) return EMBERT_STATUS_NOT_A_DECODER;
  if ((header.task_heads & kHeadLm) == 0) return EMBERT_STATUS_NO_LM;
  if (options->beams > engine->options.max_batch) return EMBERT_STATUS_TOO_MANY_TEXTS;
  if (reinterpret_cast<uintptr_t>(workspace) % 8 != 0) return EMBERT_STATUS_ARENA_MISALIGNED;
  if (workspace_bytes < needed) return EMBERT_STATUS_ARENA_TOO_SMALL;

  const int32_t start = static_cast<int32_t>(header.start_id);
  if (prompt_length == 0) {
    if (header.start_id == UINT32_MAX) return EMBERT_STATUS_EMPTY_INPUT;
    prompt_ids = &start;
    prompt_length = 1;
  }
  const uint32_t room = engine->options.max_tokens;
  if (prompt_length > room) return EMBERT_STATUS_TOO_MANY_TOKENS;
  Prompt prompt = {.engine = engine,
                   .options = *options,
                   .ids = prompt_ids,
                   .length = static_cast<uint32_t>(prompt_length),
                   .most_new = options->max_new_tokens,
                   .at_most = EMBERT_FINISH_LENGTH};
  // The last token is not run, so the cache needs no room for it.
  const uint32_t most = room - prompt.length + 1;
  if (prompt.most_new > most) {
    prompt.most_new = most;
    prompt.at_most = EMBERT_FINISH_CACHE_FULL;
  }
  if (generation->capacity < prompt.most_new) {
    generation->count = prompt.most_new;
    return EMBERT_STATUS_BUFFER_TOO_SMALL;
  }
  clear_cache(*engine);
  return options->beams > 1
             ? search_beams(prompt, workspace, generation)
             : follow_one(prompt, static_cast<embert_candidate*>(workspace), generation);
}
