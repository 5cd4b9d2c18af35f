// SPDX-License-Identifier: Apache-2.0
#include "converter/reference/batch_chunk.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "converter/convert_error.hpp"
#include "converter/model/model_config.hpp"
#include "converter/model/token_batch.hpp"

namespace embert::convert {
namespace {

// Rows of a chunk: enough to keep the threads busy, few enough to keep the buffers small.
constexpr std::size_t kChunkRows = 2048;

std::size_t to_size(std::int32_t value) { return static_cast<std::size_t>(value); }

void check_lengths(const std::vector<std::int32_t>& lengths, const char* what, int most) {
  for (const std::int32_t length : lengths) {
    if (length < 1 || length > most) {
      throw ConvertError(std::string("a ") + what + " of " + std::to_string(length) +
                         " tokens; the model takes 1 to " + std::to_string(most));
    }
  }
}

// An optional array is absent or has the expected size.
void check_size(std::size_t size, std::size_t expected, const char* what) {
  if (size != 0 && size != expected) {
    throw ConvertError("a batch has " + std::to_string(size) + " values of " + what +
                       ", expected " + std::to_string(expected));
  }
}

void check_range(const std::vector<std::int32_t>& values, const char* what, int limit) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0 || values[i] >= limit) {
      throw ConvertError(std::string(what) + " " + std::to_string(values[i]) + " at " +
                         std::to_string(i) + " is outside 0.." + std::to_string(limit - 1));
    }
  }
}

void check_source(const TokenBatch& batch, const StackConfig& config) {
  if (!config.cross_attention) {
    if (batch.encoder_states.empty() && batch.source_lengths.empty()) return;
    throw ConvertError("a batch has encoder states, but the model has no cross-attention");
  }
  if (batch.source_lengths.size() != batch.lengths.size()) {
    throw ConvertError("cross-attention needs a source for each of " +
                       std::to_string(batch.lengths.size()) + " texts; the batch has " +
                       std::to_string(batch.source_lengths.size()));
  }
  check_lengths(batch.source_lengths, "source", kMaxPositions);
  const std::size_t rows = token_count(batch.source_lengths);
  const std::size_t expected = rows * to_size(config.cross_hidden_size);
  if (batch.encoder_states.size() != expected) {
    throw ConvertError("a batch has " + std::to_string(batch.encoder_states.size()) +
                       " values of encoder_states, expected " + std::to_string(expected));
  }
  check_size(batch.source_key_mask.size(), rows, "source_key_mask");
  std::size_t pairs = 0;
  for (std::size_t t = 0; t < batch.lengths.size(); ++t) {
    pairs += to_size(batch.lengths[t]) * to_size(batch.source_lengths[t]);
  }
  check_size(batch.source_query_key_mask.size(), pairs, "source_query_key_mask");
}

void check_head_mask(const TokenBatch& batch, const StackConfig& config) {
  if (batch.head_mask.empty()) return;
  const auto& heads = config.num_heads_of_layer;
  check_size(batch.head_mask.size(), to_size(std::accumulate(heads.begin(), heads.end(), 0)),
             "head_mask");
  const bool pruned =
      std::ranges::any_of(heads, [&](int count) { return count != config.num_attention_heads; });
  if (pruned && config.cross_attention) {
    throw ConvertError(
        "a head mask has no meaning where self-attention has pruned heads and cross-attention has "
        "not");
  }
}

}  // namespace

void check_batch(const TokenBatch& batch, const StackConfig& config) {
  check_lengths(batch.lengths, "text", config.max_position_embeddings);
  const std::size_t rows = token_count(batch.lengths);
  if (batch.inputs_embeds.empty()) {
    if (batch.ids.size() != rows) {
      throw ConvertError("the lengths of a batch add up to " + std::to_string(rows) +
                         ", but it has " + std::to_string(batch.ids.size()) + " ids");
    }
  } else if (!batch.ids.empty()) {
    throw ConvertError("a batch has ids or inputs_embeds, not both");
  }
  check_size(batch.inputs_embeds.size(), rows * to_size(config.word_size()), "inputs_embeds");
  check_size(batch.type_ids.size(), rows, "type_ids");
  check_size(batch.position_ids.size(), rows, "position_ids");
  check_size(batch.key_mask.size(), rows, "key_mask");
  std::size_t pairs = 0;
  for (const std::int32_t length : batch.lengths) pairs += to_size(length) * to_size(length);
  check_size(batch.query_key_mask.size(), pairs, "query_key_mask");
  check_range(batch.ids, "token id", config.vocab_size);
  check_range(batch.type_ids, "token type id", config.type_vocab_size);
  check_range(batch.position_ids, "position id", config.max_position_embeddings);
  check_head_mask(batch, config);
  check_source(batch, config);
}

std::vector<BatchChunk> chunks_of(const TokenBatch& batch, const StackConfig& config) {
  const auto part = [](const auto& values, std::size_t at) {
    return values.empty() ? nullptr : values.data() + at;
  };
  std::vector<BatchChunk> chunks;
  std::size_t row = 0, source_row = 0, pair = 0, source_pair = 0;
  for (std::size_t text = 0; text < batch.lengths.size();) {
    BatchChunk& chunk = chunks.emplace_back();
    chunk.first_row = row;
    chunk.ids = part(batch.ids, row);
    chunk.type_ids = part(batch.type_ids, row);
    chunk.position_ids = part(batch.position_ids, row);
    chunk.inputs_embeds = part(batch.inputs_embeds, row * to_size(config.word_size()));
    chunk.key_mask = part(batch.key_mask, row);
    chunk.query_key_mask = part(batch.query_key_mask, pair);
    chunk.head_mask = part(batch.head_mask, 0);
    chunk.encoder_states =
        part(batch.encoder_states, source_row * to_size(config.cross_hidden_size));
    chunk.source_key_mask = part(batch.source_key_mask, source_row);
    chunk.source_query_key_mask = part(batch.source_query_key_mask, source_pair);
    const std::size_t first = text;
    for (; text < batch.lengths.size(); ++text) {
      const std::size_t length = to_size(batch.lengths[text]);
      const std::size_t source =
          batch.source_lengths.empty() ? 0 : to_size(batch.source_lengths[text]);
      const std::size_t more = std::max(chunk.rows + length, chunk.source_rows + source);
      if (text != first && more > kChunkRows) break;
      chunk.rows += length;
      chunk.source_rows += source;
      pair += length * length;
      source_pair += length * source;
    }
    chunk.lengths = {batch.lengths.data() + first, text - first};
    if (!batch.source_lengths.empty()) {
      chunk.source_lengths = {batch.source_lengths.data() + first, text - first};
    }
    row += chunk.rows;
    source_row += chunk.source_rows;
  }
  return chunks;
}

}  // namespace embert::convert
