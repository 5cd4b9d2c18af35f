// SPDX-License-Identifier: Apache-2.0
#include "converter/model/token_batch.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace embert::convert {

std::size_t token_count(const std::vector<std::int32_t>& lengths) {
  return static_cast<std::size_t>(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}));
}

std::vector<TokenBatch> cut_batch(const TokenBatch& batch, std::size_t texts) {
  std::vector<TokenBatch> parts;
  const std::size_t source_tokens = token_count(batch.source_lengths);
  const std::size_t width = source_tokens > 0 ? batch.encoder_states.size() / source_tokens : 0;
  std::size_t token = 0, source = 0;
  // Copies `count` values from `at` on; an array that the batch lacks stays empty.
  const auto take = [](const auto& values, std::size_t at, std::size_t count, auto& out) {
    if (values.empty()) return;
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(at);
    out.assign(first, first + static_cast<std::ptrdiff_t>(count));
  };
  for (std::size_t text = 0; text < batch.lengths.size(); text += texts) {
    const std::size_t count = std::min(texts, batch.lengths.size() - text);
    TokenBatch& part = parts.emplace_back();
    take(batch.lengths, text, count, part.lengths);
    take(batch.source_lengths, text, count, part.source_lengths);
    const std::size_t tokens = token_count(part.lengths),
                      sources = token_count(part.source_lengths);
    take(batch.ids, token, tokens, part.ids);
    take(batch.type_ids, token, tokens, part.type_ids);
    take(batch.encoder_states, source * width, sources * width, part.encoder_states);
    token += tokens;
    source += sources;
  }
  return parts;
}

std::vector<ModelBatch> cut_batch(const ModelBatch& batch, std::size_t texts) {
  std::vector<ModelBatch> parts;
  for (TokenBatch& part : cut_batch(batch.texts, texts)) parts.push_back({std::move(part), {}});
  std::size_t at = 0;
  for (TokenBatch& part : cut_batch(batch.sources, texts)) parts[at++].sources = std::move(part);
  return parts;
}

}  // namespace embert::convert
