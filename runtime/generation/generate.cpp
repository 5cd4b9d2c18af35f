// SPDX-License-Identifier: Apache-2.0
// Greedy decoding and sampling. Each step runs the decoder on one token, ranks the next token with
// the language model's head, and takes one of the best.
#include "runtime/generation/generate.hpp"

#include "runtime/engine/attention/kv_cache.hpp"
#include "runtime/engine/input/check_input.hpp"
#include "runtime/model/struct_size.hpp"

namespace embert {
namespace {

constexpr size_t kMaxSampled = 65536;

/// A checked copy of a caller's options.
embert_status read_options(const embert_generate_options& given, embert_generate_options* whole) {
  const embert_status status = read_struct(given, whole);
  if (status != EMBERT_STATUS_OK) return status;
  const embert_generate_options& options = *whole;
  const bool drawn_ok = options.temperature_q16 >= 1 && options.top_p >= 1 &&
                        options.top_p <= EMBERT_Q30_ONE && options.top_k >= 1 &&
                        options.top_k <= kMaxSampled;
  const bool ok = options.max_new_tokens >= 1 && options.beams >= 1 && options.beams <= kMaxBatch &&
                  (options.random == nullptr || (options.beams == 1 && drawn_ok));
  return ok ? EMBERT_STATUS_OK : EMBERT_STATUS_INVALID_OPTION;
}

/// Candidates for the next token, without beams.
size_t choices(const embert_generate_options& options) {
  return options.random == nullptr ? 1 : options.top_k;
}

size_t bytes_of(const embert_generate_options& options) {
  return options.beams > 1 ? beam_bytes(options) : choices(options) * sizeof(embert_candidate);
}

/// Greedy decoding, or sampling. candidates: room for choices.
embert_status follow_one(const Prompt& prompt, embert_candidates candidates,
                         embert_generation* generation) {
  const embert_generate_options& options = prompt.options;
  const embert_sample_options sample = {.size = sizeof(sample),
                                        .temperature_q16 = options.temperature_q16,
                                        .top_p = options.top_p,
                                        .top_k = options.top_k};
  const int32_t* ids = prompt.ids;
  uint32_t length = prompt.length, count = 0;
  embert_log2_q26 log2_score = 0;
  for (;;) {
    embert_status status = append_tokens(prompt.engine, ids, &length, 1);
    if (status != EMBERT_STATUS_OK) return status;
    size_t taken = 0;
    embert_scale scale;
    status = embert_lm_top(prompt.engine, length - 1, &candidates, nullptr, &scale);
    if (status == EMBERT_STATUS_OK && options.random != nullptr) {
      status = embert_sample_candidate(&candidates, scale, &sample,
                                       options.random(options.random_context), &taken);
    }
    if (status != EMBERT_STATUS_OK) return status;

    ids = generation->ids + count;
    length = 1;
    const embert_candidate& token = candidates.items[taken];
    generation->ids[count++] = token.id;
    log2_score += token.log2_score;
    const bool ended = static_cast<uint32_t>(token.id) == options.end_id;
    if (ended || count == prompt.most_new) {
      generation->count = count;
      generation->finish = ended ? EMBERT_FINISH_END : prompt.at_most;
      generation->log2_score = log2_score;
      return EMBERT_STATUS_OK;
    }
  }
}

/// embert_generate.
embert_status generate(embert_engine* engine, const embert_generate_options& given,
                       embert_generation& generation) {
  if (generation.workspace == nullptr || generation.ids == nullptr ||
      (generation.prompt == nullptr && generation.prompt_length > 0)) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  const BlobHeader& header = *engine->model.header;
  embert_generate_options options;
  const embert_status status = read_options(given, &options);
  if (status != EMBERT_STATUS_OK) return status;
  if (generation.reserved != 0) return EMBERT_STATUS_INVALID_OPTION;
  if (!is_decoder(*engine)) return EMBERT_STATUS_NOT_A_DECODER;
  if ((header.task_heads & kHeadLm) == 0) return EMBERT_STATUS_NO_LM;
  if (options.beams > engine->options.max_batch) return EMBERT_STATUS_TOO_MANY_TEXTS;
  if (reinterpret_cast<uintptr_t>(generation.workspace) % 8 != 0) {
    return EMBERT_STATUS_ARENA_MISALIGNED;
  }
  if (generation.workspace_bytes < bytes_of(options)) return EMBERT_STATUS_ARENA_TOO_SMALL;

  const int32_t start = static_cast<int32_t>(header.start_id);
  const bool from_start = generation.prompt_length == 0;
  if (from_start && header.start_id == UINT32_MAX) return EMBERT_STATUS_EMPTY_INPUT;
  const uint32_t room = engine->options.max_tokens;
  if (generation.prompt_length > room) return EMBERT_STATUS_TOO_MANY_TOKENS;
  Prompt prompt = {
      .engine = engine,
      .options = options,
      .ids = from_start ? &start : generation.prompt,
      .length = from_start ? 1 : static_cast<uint32_t>(generation.prompt_length),
      .most_new = options.max_new_tokens,
      .at_most = EMBERT_FINISH_LENGTH,
  };
  // The last token is not run, so the cache needs no room for it.
  const uint32_t most = room - prompt.length + 1;
  if (prompt.most_new > most) {
    prompt.most_new = most;
    prompt.at_most = EMBERT_FINISH_CACHE_FULL;
  }
  if (generation.capacity < prompt.most_new) {
    generation.count = prompt.most_new;
    return EMBERT_STATUS_BUFFER_TOO_SMALL;
  }
  clear_cache(*engine);
  if (options.beams > 1) {
    return search_beams(prompt, generation.workspace, &generation);
  }
  const embert_candidates candidates = {
      .items = static_cast<embert_candidate*>(generation.workspace), .capacity = choices(options)};
  return follow_one(prompt, candidates, &generation);
}

}  // namespace

embert_status append_tokens(embert_engine* engine, const int32_t* ids, const uint32_t* lengths,
                            uint32_t texts) {
  const embert_input input = {
      .size = sizeof(input), .ids = ids, .lengths = lengths, .batch = texts};
  embert_output output = {.size = sizeof(output)};
  return embert_run(engine, &input, &output);
}

}  // namespace embert

embert_status embert_generate_options_init(const embert_model* model,
                                           embert_generate_options* options) {
  if (options == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  embert_generate_options defaults = {};
  defaults.max_new_tokens = 20;
  defaults.end_id = model != nullptr ? embert::model_of(*model).header->end_id : UINT32_MAX;
  defaults.beams = 1;
  defaults.temperature_q16 = 65536;
  defaults.top_p = EMBERT_Q30_ONE;
  defaults.top_k = 50;
  return embert::init_struct(defaults, options);
}

embert_status embert_generate_bytes(const embert_generate_options* options,
                                    size_t* workspace_bytes) {
  using namespace embert;
  if (options == nullptr || workspace_bytes == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  embert_generate_options chosen;
  const embert_status status = read_options(*options, &chosen);
  if (status == EMBERT_STATUS_OK) *workspace_bytes = bytes_of(chosen);
  return status;
}

embert_status embert_generate(embert_engine* engine, const embert_generate_options* options,
                              embert_generation* generation) {
  using namespace embert;
  if (engine == nullptr || options == nullptr || generation == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  return with_whole(*generation,
                    [&](embert_generation& whole) { return generate(engine, *options, whole); });
}
