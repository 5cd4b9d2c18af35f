// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/runtime/record_engine.hpp"

#include <algorithm>
#include <cstring>

#include "embert/embert_lm.h"
#include "tests/fuzz/support/require.hpp"
#include "tests/support/synthetic_blob.hpp"

namespace embert::fuzz {
namespace {

constexpr char kText[] = "hello aab cafe\xcc\x81 [MASK] <mask>\xff \xe4\xb8\xad ''  ";
constexpr std::uint32_t kBatch = 2;

/// Lengths and ids of two texts, and all masks; the second text has one token.
struct Batch {
  std::uint32_t lengths[kBatch];
  std::size_t tokens;  ///< of both
  std::vector<std::int32_t> ids, type_ids, position_ids, head_mask;
  std::vector<std::uint8_t> key_mask, query_mask, pair_mask, cross_mask;

  /// Some tokens are hidden from the others.
  embert_input input() const {
    embert_input input = {.size = sizeof(input)};
    input.ids = ids.data();
    input.lengths = lengths;
    input.batch = kBatch;
    input.key_mask = key_mask.data();
    return input;
  }
  embert_input masked_input() const {
    embert_input all = input();
    all.type_ids = type_ids.data();
    all.position_ids = position_ids.data();
    all.head_mask = head_mask.data();
    all.query_mask = query_mask.data();
    all.pair_mask = pair_mask.data();
    all.cross_mask = cross_mask.empty() ? nullptr : cross_mask.data();
    return all;
  }
};

/// Tokens of a text's source.
std::size_t source_tokens(const Session& s, std::uint32_t text) {
  return text == 0 ? s.options.max_source_tokens : 1;
}

/// Keys that the tokens of both texts attend, one number for each pair.
std::size_t pairs_of(const Session& s, const std::uint32_t* lengths) {
  std::size_t pairs = 0;
  for (std::uint32_t text = 0; text < kBatch; ++text) {
    pairs += lengths[text] * (std::size_t{embert_cache_length(s.engine, text)} + lengths[text]);
  }
  return pairs;
}

std::size_t cross_pairs_of(const Session& s, const std::uint32_t* lengths) {
  if (s.info.cross_hidden_size == 0) return 0;
  return lengths[0] * source_tokens(s, 0) + lengths[1] * source_tokens(s, 1);
}

/// vocab_size, type_vocab_size and max_positions are those of the stack that reads the ids.
struct IdRanges {
  std::uint32_t vocab_size, type_vocab_size, max_positions;
};

Batch make_batch(const Session& s, const IdRanges& ranges, std::uint32_t tokens) {
  Batch batch = {{tokens, 1}, tokens + std::size_t{1}};
  const auto below = [](std::size_t value, std::uint32_t range) {
    return static_cast<std::int32_t>(range == 0 ? 0 : value % range);
  };
  for (std::size_t i = 0; i < batch.tokens; ++i) {
    batch.ids.push_back(below(i * 7 + 1, ranges.vocab_size));
    batch.type_ids.push_back(below(i, ranges.type_vocab_size));
    batch.position_ids.push_back(below(i * 5, ranges.max_positions));
    batch.key_mask.push_back(i % 3 != 1 ? 1 : 0);
    batch.query_mask.push_back(i % 4 != 2 ? 1 : 0);
  }
  for (std::uint32_t head = 0; head < s.info.num_heads; ++head) {
    batch.head_mask.push_back(static_cast<std::int32_t>(head % 3) << 15);  // 0, 1 and 2
  }
  for (std::size_t i = 0; i < pairs_of(s, batch.lengths); ++i)
    batch.pair_mask.push_back(i % 5 != 3);
  for (std::size_t i = 0; i < cross_pairs_of(s, batch.lengths); ++i) {
    batch.cross_mask.push_back(i % 3 != 2);
  }
  return batch;
}

Batch make_batch(const Session& s, std::uint32_t tokens) {
  return make_batch(s, {s.info.vocab_size, s.info.type_vocab_size, s.info.max_positions}, tokens);
}

/// The tokens that a row of the last call gives, with their scores.
void record_lm(const Session& s, std::uint32_t row, Record& record) {
  embert_candidate items[3] = {};
  embert_candidates best = {items, 3, 0};
  embert_log_sum log_sum = {};
  embert_scale scale = {};
  if (record.ok(embert_lm_top(s.engine, row, &best, &log_sum, &scale))) {
    require(best.count <= 3, "no more tokens than there is room for");
    record.add(&log_sum, 1);
    for (std::size_t i = 0; i < best.count; ++i) {
      record.add(&items[i].id, 1);
      record.add(&items[i].logit, 1);
      record.add(&items[i].log2_score, 1);
    }
    record.ok(embert_lm_score(s.engine, row, &best, nullptr, nullptr));
    for (std::size_t i = 0; i < best.count; ++i) record.add(&items[i].log2_score, 1);
  }
  std::vector<std::int32_t> logits(s.info.vocab_size);
  if (record.ok(embert_lm_logits(s.engine, row, logits.data(), &scale))) record.add(logits);
}

/// A pass with every result that a caller can ask for.
void record_run(const Session& s, const Batch& batch, const embert_input& input, Record& record) {
  const std::size_t hidden = s.info.hidden_size, layers = s.info.num_layers;
  const std::int16_t* rows = nullptr;
  std::vector<std::int16_t> pooled(kBatch * hidden), states((layers + 1) * batch.tokens * hidden);
  std::vector<embert_scale> scales(layers + 1);
  std::vector<std::int32_t> logits(kBatch * s.info.num_labels);
  std::vector<std::int32_t> token_logits(batch.tokens * s.info.num_token_labels);
  const std::size_t heads = layers * s.info.num_heads;
  std::vector<std::uint16_t> attentions(heads * pairs_of(s, batch.lengths));
  std::vector<std::uint16_t> cross_attentions(heads * cross_pairs_of(s, batch.lengths));
  embert_output output = {.size = sizeof(output)};
  output.hidden = &rows;
  output.pooled = s.info.has_pooler != 0 ? pooled.data() : nullptr;
  output.logits = logits.empty() ? nullptr : logits.data();
  output.token_logits = token_logits.empty() ? nullptr : token_logits.data();
  if (layers > 0) {
    output.hidden_states = states.data();
    output.hidden_state_scales = scales.data();
    output.attentions = attentions.data();
    output.cross_attentions = cross_attentions.empty() ? nullptr : cross_attentions.data();
  }
  if (!record.ok(embert_run(s.engine, &input, &output))) return;
  record.add(rows, batch.tokens * hidden);
  record.add(pooled);
  record.add(states);
  record.add(logits);
  record.add(token_logits);
  record.add(attentions);
  record.add(cross_attentions);
  if (s.info.has_lm == 0) return;
  for (const std::size_t row : {std::size_t{0}, batch.tokens - 1, batch.tokens}) {
    record_lm(s, static_cast<std::uint32_t>(row), record);
  }
}

void record_passes(const Session& s, Record& record) {
  embert_cache_clear(s.engine);
  const Batch batch = make_batch(s, s.options.max_tokens);
  embert_input input = batch.input();
  if (s.info.num_layers == 0) input.key_mask = nullptr;  // static embeddings have no attention
  const embert_input masked = batch.masked_input();
  record_run(s, batch, input, record);
  embert_cache_clear(s.engine);
  record_run(s, batch, masked, record);
  embert_cache_clear(s.engine);
  std::vector<std::int16_t> vectors(kBatch * std::size_t{s.info.vector_size});
  if (record.ok(embert_embed(s.engine, &input, EMBERT_POOLING_MODEL, vectors.data(), nullptr))) {
    record.add(vectors);
  }
  embert_cache_clear(s.engine);
  std::vector<std::int32_t> logits(kBatch * s.info.num_labels);
  if (record.ok(embert_classify(s.engine, &input, logits.data(), nullptr))) record.add(logits);
}

void record_texts(const Session& s, Record& record) {
  std::vector<std::int16_t> vector(s.info.vector_size);
  for (const embert_text& text : {kTexts[0], kTexts[1]}) {
    if (record.ok(embert_embed_text(s.engine, &text, vector.data(), nullptr))) record.add(vector);
    embert_label_score items[2] = {};
    embert_labels labels = {.items = items, .capacity = 2, .count = 0, .scale = {}};
    if (!record.ok(embert_classify_text(s.engine, &text, &labels))) continue;
    require(labels.count <= 2, "no more labels than there is room for");
    record.add(items, labels.count);
  }
}

/// Two steps; the texts change places, one gets shorter, and go on.
void record_steps(const Session& s, Record& record) {
  record.ok(embert_cache_clear(s.engine));
  for (const std::uint32_t tokens : {2u, 1u}) {
    const Batch batch = make_batch(s, tokens);
    record_run(s, batch, batch.input(), record);
  }
  const std::uint32_t parents[kBatch] = {1, 0};
  record.ok(embert_cache_reorder(s.engine, parents, kBatch));
  record.ok(embert_cache_truncate(s.engine, 1, 1));
  for (std::uint32_t text = 0; text <= kBatch; ++text) {
    const std::uint32_t length = embert_cache_length(s.engine, text);
    record.add(&length, 1);
  }
  Batch batch = make_batch(s, 1);
  // Positions go on from the cache.
  embert_input input = batch.masked_input();
  input.position_ids = nullptr;
  record_run(s, batch, input, record);
}

std::uint32_t next_random(void* context) {
  auto& state = *static_cast<std::uint32_t*>(context);
  return state = state * 1664525 + 1013904223;
}

void record_generation(const Session& s, const embert_generate_options& options,
                       std::size_t prompt_length, Record& record) {
  std::size_t bytes = 0;
  if (!record.ok(embert_generate_bytes(&options, &bytes))) return;
  test::AlignedBytes workspace(bytes);
  std::memset(workspace.data(), 0xA5, bytes);
  const std::int32_t prompt[] = {0};
  std::vector<std::int32_t> ids(options.max_new_tokens);
  embert_generation generation = {.size = sizeof(generation)};
  generation.prompt = prompt;
  generation.prompt_length = prompt_length;
  generation.workspace = workspace.data();
  generation.workspace_bytes = bytes;
  generation.ids = ids.data();
  generation.capacity = ids.size();
  if (!record.ok(embert_generate(s.engine, &options, &generation))) return;
  require(generation.count <= ids.size(), "no more tokens than asked for");
  record.add(ids.data(), generation.count);
  record.add(&generation.log2_score, 1);
  record.add(&generation.finish, 1);
}

void record_generations(const Session& s, Record& record) {
  embert_generate_options options = embert_generate_options_default(&s.model);
  options.max_new_tokens = 3;
  record_generation(s, options, 0, record);
  record_generation(s, options, 1, record);
  options.beams = kBatch;
  record_generation(s, options, 1, record);
  options.beams = 1;
  std::uint32_t state = 1;
  options.random = next_random;
  options.random_context = &state;
  record_generation(s, options, 1, record);
}

/// States for cross-attention that no encoder made.
void record_set_source(const Session& s, Record& record) {
  const std::uint32_t lengths[kBatch] = {s.options.max_source_tokens, 1};
  std::vector<std::int16_t> states((std::size_t{lengths[0]} + 1) * s.info.cross_hidden_size);
  for (std::size_t i = 0; i < states.size(); ++i) {
    states[i] = static_cast<std::int16_t>(i * 2003 % 4001) - 2000;
  }
  std::vector<std::uint8_t> mask(lengths[0] + 1, 1);
  mask[0] = 0;
  embert_source source = {.size = sizeof(source)};
  source.states = states.data();
  source.lengths = lengths;
  source.batch = kBatch;
  source.scale = {0x3A000000};  // 2^-11
  source.mask = mask.data();
  record.ok(embert_set_source(s.engine, &source));
}

/// The states of the model's own encoder.
void record_encode_source(const Session& s, Record& record) {
  embert_stack_info encoder = {.size = sizeof(encoder)};
  if (!record.ok(embert_model_get_stack(&s.model, 0, &encoder))) return;
  const std::uint32_t tokens = std::min(s.options.max_source_tokens, encoder.max_positions);
  const Batch batch =
      make_batch(s, {encoder.vocab_size, encoder.type_vocab_size, encoder.max_positions}, tokens);
  embert_input input = batch.input();
  const std::int16_t* rows = nullptr;
  embert_output output = {.size = sizeof(output)};
  output.hidden = &rows;
  if (record.ok(embert_encode_source(s.engine, &input, &output))) {
    record.add(rows, batch.tokens * encoder.hidden_size);
  }
}

void record_decoder(const Session& s, Record& record) {
  record_steps(s, record);
  record_generations(s, record);
}

}  // namespace

const embert_text kTexts[2] = {{kText, sizeof(kText) - 1, nullptr, 0},
                               {kText, 12, kText + 6, sizeof(kText) - 7}};

void record_engine(const Session& s, Record& record) {
  if (s.info.cross_hidden_size != 0) record_set_source(s, record);
  record_passes(s, record);
  if (s.info.has_tokenizer != 0) record_texts(s, record);
  if (s.info.is_decoder != 0) record_decoder(s, record);
  if (s.info.num_stacks == 2) {
    record_encode_source(s, record);
    record_decoder(s, record);
  }
  std::uint32_t checksum = 0;
  if (record.ok(embert_selftest(s.engine, &checksum))) record.add(&checksum, 1);
}

}  // namespace embert::fuzz
