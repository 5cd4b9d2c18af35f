// SPDX-License-Identifier: Apache-2.0
// The public functions that make an engine and run a model.
#include "runtime/engine/engine.hpp"

#include "runtime/engine/attention/kv_cache.hpp"
#include "runtime/engine/forward.hpp"
#include "runtime/engine/heads/pool_text.hpp"
#include "runtime/engine/heads/task_heads.hpp"
#include "runtime/engine/input/check_input.hpp"
#include "runtime/model/struct_size.hpp"

namespace embert {
namespace {

/// Computes the task heads that output asks for.
void run_heads(const Run& run, embert_output& output) {
  const BlobHeader& header = *run.engine.model.header;
  const size_t size = run.hidden_size();
  const int16_t* hidden = run.at<int16_t>(run.plan.normalized);  // [tokens or texts][H]
  if (output.token_logits != nullptr) {
    classify_tokens(run, hidden, run.tokens, output.token_logits);
    output.token_logits_scale.float_bits = header.token_logits_scale;
  }
  if (output.pooled != nullptr || output.logits != nullptr) {
    PooledText rows = {hidden, 0, run.input.key_mask};
    for (size_t text = 0; text < run.input.batch; ++text) {
      rows.length = run.input.lengths[text];
      int16_t* pooled = output.pooled != nullptr ? output.pooled + text * size
                                                 : run.scratch<int16_t>(0, run.plan.row);
      pool_head(run, rows, pooled);
      if (output.logits != nullptr) {
        classify_pooled(run, pooled, output.logits + text * header.num_labels);
      }
      rows.hidden += run.first_only ? size : rows.length * size;
      if (rows.key_mask != nullptr) rows.key_mask += rows.length;
    }
    output.pooled_scale.float_bits = header.pooled_scale;
    output.logits_scale.float_bits = header.logits_scale;
  }
  if (output.hidden != nullptr) *output.hidden = hidden;
  output.hidden_scale.float_bits = run.stack.config->hidden_scale;
}

embert_status check_run(const Engine& engine, const embert_input& input,
                        const embert_output& output) {
  if (is_static(engine)) return EMBERT_STATUS_NO_ENCODER;
  const embert_status status = check_output(*engine.model.header, output);
  if (status != EMBERT_STATUS_OK) return status;
  return check_input(engine, last_stack(engine), input);
}

/// Runs a checked input through the last stack and its task heads.
Run run_checked(Engine& engine, const embert_input& input, embert_output& output) {
  const bool pooled_only = (output.pooled != nullptr || output.logits != nullptr) &&
                           output.hidden == nullptr && output.hidden_states == nullptr &&
                           output.attentions == nullptr && output.cross_attentions == nullptr &&
                           output.token_logits == nullptr && !pools_mean(engine.model);
  const Run run = run_stack(engine, last_stack(engine), input, output, pooled_only);
  engine.rows = pooled_only ? 0 : static_cast<uint32_t>(run.tokens);
  run_heads(run, output);
  return run;
}

/// embert_run.
[[gnu::noinline]] embert_status check_and_run(Engine& engine, const embert_input& input,
                                              embert_output& output) {
  const embert_status status = check_run(engine, input, output);
  if (status == EMBERT_STATUS_OK) run_checked(engine, input, output);
  return status;
}

/// embert_embed of static embeddings.
[[gnu::noinline]] embert_status embed_static(Engine& engine, const embert_input& input,
                                             embert_pooling pooling, int16_t* embeddings,
                                             embert_scale* scale) {
  if (pooling != EMBERT_POOLING_MODEL && pooling != EMBERT_POOLING_MEAN) {
    return EMBERT_STATUS_INVALID_OPTION;
  }
  const embert_status status = check_static_input(engine, input);
  if (status != EMBERT_STATUS_OK) return status;
  const int32_t* ids = input.ids;
  for (uint32_t i = 0; i < input.batch; ++i) {
    make_static_vector(last_buffers(engine), ids, input.lengths[i],
                       embeddings + i * model_vector_size(engine.model));
    ids += input.lengths[i];
  }
  if (scale != nullptr) scale->float_bits = vector_scale(engine.model);
  return EMBERT_STATUS_OK;
}

/// embert_embed.
[[gnu::noinline]] embert_status embed(Engine& engine, const embert_input& input,
                                      embert_pooling pooling, int16_t* embeddings,
                                      embert_scale* scale) {
  if (is_static(engine)) return embed_static(engine, input, pooling, embeddings, scale);
  embert_output output = {.size = sizeof(output)};
  const embert_status status = check_run(engine, input, output);
  if (status != EMBERT_STATUS_OK) return status;
  const Run run = run_checked(engine, input, output);
  const int16_t* hidden = run.at<int16_t>(run.plan.normalized);
  for (uint32_t i = 0; i < input.batch; ++i) {
    int16_t* vector = embeddings + i * model_vector_size(engine.model);
    if (pooling == EMBERT_POOLING_MODEL) {
      make_vector(run, hidden, input.lengths[i], vector);
    } else {
      pool_text(run, hidden, input.lengths[i], static_cast<BlobPooling>(pooling), vector);
    }
    hidden += input.lengths[i] * run.hidden_size();
  }
  if (scale != nullptr) scale->float_bits = vector_scale(engine.model);
  return EMBERT_STATUS_OK;
}

/// Whether the arena has a byte of the blob, which an engine would destroy. noinline: keeps the
/// copy of the model off the caller's frame.
[[gnu::noinline]] bool overlaps_blob(const embert_model& object, const void* arena, size_t bytes) {
  const Model model = model_of(object);
  const uintptr_t blob = reinterpret_cast<uintptr_t>(model.blob);
  const uintptr_t first = reinterpret_cast<uintptr_t>(arena);
  return first < blob + model.header->blob_bytes && blob < first + bytes;
}

}  // namespace
}  // namespace embert

embert_status embert_options_init(const embert_model* object, embert_options* options) {
  using namespace embert;
  if (options == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  embert_options defaults = {};
  if (object == nullptr) return init_struct(defaults, options);
  const Model model = model_of(*object);
  const BlobStack& last = *model_last_stack(model).config;
  defaults.max_tokens = model.header->max_tokens;
  defaults.max_batch = 1;
  defaults.threads = 1;
  if ((last.flags & kStackCrossAttention) != 0) {
    defaults.max_source_tokens = model.header->stacks[0].max_positions;
  }
  return init_struct(defaults, options);
}

embert_status embert_arena_bytes(const embert_model* model, const embert_options* options,
                                 size_t* bytes) {
  using namespace embert;
  if (model == nullptr || options == nullptr || bytes == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  const Model opened = model_of(*model);
  embert_options chosen;
  embert_status status = read_struct(*options, &chosen);
  if (status == EMBERT_STATUS_OK) status = check_options(*opened.header, chosen);
  if (status != EMBERT_STATUS_OK) return status;
  const uint64_t total = plan_arena(opened, chosen).total();
  if (total > SIZE_MAX / 2) {
    return EMBERT_STATUS_INVALID_OPTION;  // more than the machine can address
  }
  *bytes = static_cast<size_t>(total);
  return EMBERT_STATUS_OK;
}

embert_status embert_engine_init(const embert_model* model, const embert_options* options,
                                 void* arena, size_t arena_bytes, embert_engine** engine) {
  using namespace embert;
  if (model == nullptr || options == nullptr || arena == nullptr || engine == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  size_t needed = 0;
  const embert_status status = embert_arena_bytes(model, options, &needed);
  if (status != EMBERT_STATUS_OK) return status;
  if (!has_kernels(model_of(*model))) return EMBERT_STATUS_LAYOUT;
  if (reinterpret_cast<uintptr_t>(arena) % kBlobAlignment != 0) {
    return EMBERT_STATUS_ARENA_MISALIGNED;
  }
  if (arena_bytes < needed) return EMBERT_STATUS_ARENA_TOO_SMALL;
  if (overlaps_blob(*model, arena, needed)) return EMBERT_STATUS_INVALID_OPTION;

  // In place: an engine on the stack would take 840 bytes on a Cortex-M.
  embert_engine* made = static_cast<embert_engine*>(arena);
  made->model = model_of(*model);
  made->kernels = select_kernels(made->model.isa_mask);
  read_struct(*options, &made->options);
  made->plan = plan_arena(made->model, made->options);
  made->rows = 0;
  made->source_texts = 0;
  *engine = made;
  if (is_decoder(**engine)) clear_cache(**engine);
  return EMBERT_STATUS_OK;
}

embert_status embert_run(embert_engine* engine, const embert_input* input, embert_output* output) {
  using namespace embert;
  if (engine == nullptr || input == nullptr || output == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  return with_whole(*input, [&](const embert_input& whole_input) {
    return with_whole(*output, [&](embert_output& whole_output) {
      return check_and_run(*engine, whole_input, whole_output);
    });
  });
}

embert_status embert_last_hidden_state(embert_engine* engine, const embert_input* input,
                                       const int16_t** hidden, embert_scale* scale) {
  if (hidden == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  embert_output output = {.size = sizeof(output)};
  output.hidden = hidden;
  const embert_status status = embert_run(engine, input, &output);
  if (status == EMBERT_STATUS_OK && scale != nullptr) *scale = output.hidden_scale;
  return status;
}

embert_status embert_embed(embert_engine* engine, const embert_input* input, embert_pooling pooling,
                           int16_t* embeddings, embert_scale* scale) {
  using namespace embert;
  if (engine == nullptr || input == nullptr || embeddings == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  // Dense layers behind pooling fit the model's own pooling alone.
  if (pooling != EMBERT_POOLING_MODEL &&
      (static_cast<uint32_t>(pooling) >= kPoolingCount || model_vector(engine->model) != nullptr)) {
    return EMBERT_STATUS_INVALID_OPTION;
  }
  return with_whole(*input, [&](const embert_input& whole_input) {
    return embed(*engine, whole_input, pooling, embeddings, scale);
  });
}

embert_status embert_pooler_output(embert_engine* engine, const embert_input* input,
                                   int16_t* pooled, embert_scale* scale) {
  if (pooled == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  embert_output output = {.size = sizeof(output)};
  output.pooled = pooled;
  const embert_status status = embert_run(engine, input, &output);
  if (status == EMBERT_STATUS_OK && scale != nullptr) *scale = output.pooled_scale;
  return status;
}

embert_status embert_classify(embert_engine* engine, const embert_input* input, int32_t* logits,
                              embert_scale* scale) {
  if (logits == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  embert_output output = {.size = sizeof(output)};
  output.logits = logits;
  const embert_status status = embert_run(engine, input, &output);
  if (status == EMBERT_STATUS_OK && scale != nullptr) *scale = output.logits_scale;
  return status;
}
