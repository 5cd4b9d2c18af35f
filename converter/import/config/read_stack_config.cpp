// SPDX-License-Identifier: Apache-2.0
// Reads the sizes, which all families have, then the options of the family.
#include "converter/import/config/read_stack_config.hpp"

#include <algorithm>
#include <cstdint>

#include "converter/import/config/stack_options.hpp"

namespace embert::convert {
namespace {

constexpr std::uint32_t kMaxStoredPositions = 1 << 16;

void read_sizes(const JsonFields& config, const ConfigKeys& keys, StackConfig& out) {
  const auto size = [&](const char* key, std::uint32_t max) {
    return static_cast<int>(config.get_int(key, 1, max));
  };
  out.hidden_size = size(keys.hidden_size, kMaxHiddenSize);
  out.num_hidden_layers = size(keys.num_layers, kMaxLayers);
  out.num_attention_heads = size(keys.num_heads, kMaxHeads);
  out.intermediate_size = size(keys.intermediate_size, kMaxIntermediateSize);
  out.vocab_size = size("vocab_size", kMaxVocabSize);
  out.stored_positions = size("max_position_embeddings", kMaxStoredPositions);
  const auto types = keys.type_vocab_size == nullptr
                         ? 0
                         : static_cast<int>(config.get_int(keys.type_vocab_size, 0, kMaxTypes, 2));
  out.stored_types = types > 0;
  out.type_vocab_size = std::max(1, types);
  // Checked only: the number of rows that the feed-forward block takes at once changes no result.
  config.get_int("chunk_size_feed_forward", 0, kMaxStoredPositions, 0);

  if (keys.heads_divide_hidden) check_head_size(config, keys.hidden_size, out, keys.num_heads);
}

// Longer texts than kMaxPositions are cut, so their positions are not kept.
void limit_positions(const JsonFields& config, StackConfig& out,
                     std::vector<std::string>& warnings) {
  constexpr int kMostPositions = kMaxPositions;
  const int positions = out.stored_positions - out.first_position_row;
  out.max_position_embeddings = std::min(positions, kMostPositions);
  if (positions > kMostPositions) {
    warnings.push_back(config.file() + ": max_position_embeddings " +
                       std::to_string(out.stored_positions) + "; the first " +
                       std::to_string(kMaxPositions) + " are kept");
  }
}

void read_layer_norm_eps(const JsonFields& config, const char* key, StackConfig& out) {
  out.layer_norm_eps = config.get_number(key, 1e-12);
  if (!(out.layer_norm_eps > 0) || out.layer_norm_eps > 1) {
    throw ConvertError(config.file() + ": \"" + key + "\" must be above 0 and at most 1, found " +
                       describe_json(*config.find(key)));
  }
}

}  // namespace

StackConfig read_stack_config(const JsonFields& config, const Family& family,
                              std::vector<std::string>& warnings) {
  StackConfig out;
  const ConfigKeys& keys = family.keys;
  read_sizes(config, keys, out);
  out.num_heads_of_layer.assign(static_cast<std::size_t>(out.num_hidden_layers),
                                out.num_attention_heads);
  if (keys.hidden_act != nullptr) out.hidden_act = read_hidden_act(config, keys.hidden_act);
  if (keys.layer_norm_eps != nullptr) read_layer_norm_eps(config, keys.layer_norm_eps, out);
  family.read_options(config, out, warnings);
  limit_positions(config, out, warnings);
  return out;
}

}  // namespace embert::convert
