// SPDX-License-Identifier: Apache-2.0
// An engine between guard pages, the variations that must not change its bits, and calls with every
// member of embert_input.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <numeric>

#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "tests/runtime/engine/engine_session.hpp"
#include "tests/support/system/guarded_buffer.hpp"
#include "tests/support/system/isa_masks.hpp"

namespace embert::test {

/// Kernels and threads.
struct Way {
  std::uint32_t isa_mask, threads;
};

inline std::vector<Way> all_ways() {
  std::vector<Way> ways = {{EMBERT_ISA_SCALAR, 1}, {EMBERT_ISA_SCALAR, 2}};
  if (runnable_isas() != EMBERT_ISA_SCALAR) {
    ways.push_back({runnable_isas(), 1});
    ways.push_back({runnable_isas(), 2});
  }
  return ways;
}

/// An engine in a dirty arena of exactly the needed size. Tokens 0: as many as the model takes.
class GuardedEngine {
 public:
  GuardedEngine(const AlignedBytes& blob, Way way, std::uint32_t max_batch = 1,
                std::uint32_t max_tokens = 0, std::uint32_t max_source_tokens = 0)
      : model_(open_model(blob, way.isa_mask)),
        options_(make_options(way, max_batch, max_tokens, max_source_tokens)),
        arena_(arena_bytes(model_, options_), 64) {
    EXPECT_EQ(embert_engine_init(&model_, &options_, arena_.data(), arena_.size(), &engine_),
              EMBERT_STATUS_OK);
  }
  ~GuardedEngine() { EXPECT_TRUE(arena_.surroundings_intact()); }
  GuardedEngine(const GuardedEngine&) = delete;
  GuardedEngine& operator=(const GuardedEngine&) = delete;

  operator embert_engine*() const { return engine_; }
  const embert_model& model() const { return model_; }
  std::size_t bytes() const { return arena_.size(); }

 private:
  embert_options make_options(Way way, std::uint32_t max_batch, std::uint32_t max_tokens,
                              std::uint32_t max_source_tokens) const {
    embert_options options = embert_options_default(&model_);
    options.threads = way.threads;
    options.parallel_for = run_threads;
    options.max_batch = max_batch;
    if (max_tokens != 0) options.max_tokens = max_tokens;
    if (max_source_tokens != 0) options.max_source_tokens = max_source_tokens;
    return options;
  }

  embert_model model_;
  embert_options options_ = {.size = sizeof(options_)};
  GuardedBuffer<std::uint8_t> arena_;  ///< filled with GuardedBytes::kCanary
  embert_engine* engine_ = nullptr;
};

template <typename T>
using PerText = std::vector<std::vector<T>>;

template <typename T>
std::vector<T> joined(const PerText<T>& texts) {
  std::vector<T> all;
  for (const std::vector<T>& text : texts) all.insert(all.end(), text.begin(), text.end());
  return all;
}

/// The members of an embert_input. Empty vectors are not passed.
struct Call {
  PerText<std::int32_t> ids, type_ids, positions;
  PerText<std::uint8_t> key_mask, query_mask, pair_mask, cross_mask;
  std::vector<std::int32_t> head_mask;
  std::uint32_t head_mask_layers = 0;
  std::vector<std::int16_t> embeddings;  ///< in place of ids, which then give the lengths only
  embert_scale embeddings_scale = {};
};

/// The results of embert_run; texts one after another as in embert_output.
struct Answer {
  PerText<std::int16_t> hidden;
  std::vector<std::int16_t> hidden_states, pooled;
  std::vector<embert_scale> hidden_state_scales;
  std::vector<std::uint16_t> attentions, cross_attentions;
  std::vector<std::int32_t> logits, token_logits;
  embert_output output = {.size = sizeof(output)};
};

enum Wanted : std::uint32_t {
  kWantHidden = 1,
  kWantStates = 2,
  kWantAttentions = 4,
  kWantCrossAttentions = 8,
  kWantPooled = 16,
  kWantLogits = 32,
  kWantTokenLogits = 64
};

/// The input that points into a call.
class CallInput {
 public:
  explicit CallInput(const Call& call)
      : ids_(joined(call.ids)),
        types_(joined(call.type_ids)),
        positions_(joined(call.positions)),
        keys_(joined(call.key_mask)),
        queries_(joined(call.query_mask)),
        pairs_(joined(call.pair_mask)),
        cross_(joined(call.cross_mask)) {
    for (const auto& text : call.ids) lengths_.push_back(static_cast<std::uint32_t>(text.size()));
    input_.lengths = lengths_.data();
    input_.batch = static_cast<std::uint32_t>(lengths_.size());
    input_.ids = call.embeddings.empty() ? ids_.data() : nullptr;
    input_.embeddings = or_null(call.embeddings);
    input_.embeddings_scale = call.embeddings_scale;
    input_.type_ids = or_null(types_);
    input_.position_ids = or_null(positions_);
    input_.key_mask = or_null(keys_);
    input_.query_mask = or_null(queries_);
    input_.pair_mask = or_null(pairs_);
    input_.cross_mask = or_null(cross_);
    input_.head_mask = or_null(call.head_mask);
    input_.head_mask_layers = call.head_mask_layers;
  }
  CallInput(const CallInput&) = delete;
  CallInput& operator=(const CallInput&) = delete;

  const embert_input* get() const { return &input_; }
  const std::vector<std::uint32_t>& lengths() const { return lengths_; }
  std::size_t tokens() const { return ids_.size(); }

 private:
  template <typename T>
  static const T* or_null(const std::vector<T>& values) {
    return values.empty() ? nullptr : values.data();
  }

  std::vector<std::int32_t> ids_, types_, positions_;
  std::vector<std::uint8_t> keys_, queries_, pairs_, cross_;
  std::vector<std::uint32_t> lengths_;
  embert_input input_ = {.size = sizeof(input_)};
};

inline embert_status try_run(embert_engine* engine, const Call& call) {
  const CallInput input(call);
  embert_output output = {.size = sizeof(output)};
  return embert_run(engine, input.get(), &output);
}

/// embert_run of a valid call. source_length: of each text's source, for cross-attentions.
inline Answer run(const GuardedEngine& engine, const Call& call, std::uint32_t wanted = kWantHidden,
                  std::size_t source_length = 0) {
  const CallInput input(call);
  embert_model_info info = {.size = sizeof(info)};
  EXPECT_EQ(embert_model_get_info(&engine.model(), &info), EMBERT_STATUS_OK);
  const std::size_t hidden = info.hidden_size, layers = info.num_layers;
  std::size_t pairs = 0;
  for (std::uint32_t i = 0; i < input.lengths().size(); ++i) {
    pairs += input.lengths()[i] * std::size_t{embert_cache_length(engine, i) + input.lengths()[i]};
  }
  Answer answer;
  embert_output& output = answer.output;
  const std::int16_t* rows = nullptr;
  const auto room = [wanted](auto& buffer, Wanted what, std::size_t count) {
    if ((wanted & what) != 0) buffer.resize(count);
    return (wanted & what) != 0 ? buffer.data() : nullptr;
  };
  if ((wanted & kWantHidden) != 0) output.hidden = &rows;
  output.hidden_states =
      room(answer.hidden_states, kWantStates, (layers + 1) * input.tokens() * hidden);
  output.hidden_state_scales = room(answer.hidden_state_scales, kWantStates, layers + 1);
  output.attentions = room(answer.attentions, kWantAttentions, layers * info.num_heads * pairs);
  output.cross_attentions = room(answer.cross_attentions, kWantCrossAttentions,
                                 layers * info.num_heads * input.tokens() * source_length);
  output.pooled = room(answer.pooled, kWantPooled, call.ids.size() * hidden);
  output.logits = room(answer.logits, kWantLogits, call.ids.size() * info.num_labels);
  output.token_logits =
      room(answer.token_logits, kWantTokenLogits, input.tokens() * info.num_token_labels);
  EXPECT_EQ(embert_run(engine, input.get(), &output), EMBERT_STATUS_OK);
  if (rows != nullptr) {
    for (std::uint32_t length : input.lengths()) {
      answer.hidden.emplace_back(rows, rows + length * hidden);
      rows += length * hidden;
    }
  }
  return answer;
}

/// Random ids of texts for a model's last stack, or for its encoder.
inline PerText<std::int32_t> random_ids(std::initializer_list<std::size_t> lengths,
                                        std::uint32_t vocab_size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  PerText<std::int32_t> texts;
  for (std::size_t length : lengths) {
    texts.emplace_back();
    for (std::size_t i = 0; i < length; ++i) {
      texts.back().push_back(static_cast<std::int32_t>(random() % vocab_size));
    }
  }
  return texts;
}

/// Random bytes: one in four is 0, the others are `one`.
inline std::vector<std::uint8_t> random_mask(std::size_t count, std::mt19937_64& random,
                                             std::uint8_t one = 1) {
  std::vector<std::uint8_t> mask(count);
  for (std::uint8_t& byte : mask) byte = random() % 4 != 0 ? one : 0;
  return mask;
}

}  // namespace embert::test
