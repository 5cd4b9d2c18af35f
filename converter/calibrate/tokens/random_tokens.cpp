// SPDX-License-Identifier: Apache-2.0
#include "converter/calibrate/tokens/random_tokens.hpp"

#include <algorithm>
#include <utility>

#include "converter/model/model_config.hpp"

namespace embert::convert {
namespace {

constexpr int kLongest = 64;

// splitmix64: small, and the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  // In [0, count).
  std::int32_t below(std::int32_t count) {
    return static_cast<std::int32_t>(bits() % static_cast<std::uint64_t>(count));
  }
  // Nearly normal: the sum of twelve uniform values has variance 1.
  float normal() {
    float sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<float>(bits() >> 40) * 0x1p-24F;
    return sum;
  }

 private:
  std::uint64_t state_;
};

// Gives each text a source of random states.
void add_random_sources(const StackConfig& config, std::uint64_t seed, TokenBatch& batch) {
  Random random(seed);
  const int longest = std::min(kLongest, config.max_position_embeddings);
  for (std::size_t text = 0; text < batch.lengths.size(); ++text) {
    const std::int32_t length = 1 + random.below(longest);
    batch.source_lengths.push_back(length);
    for (std::int32_t i = 0; i < length * config.cross_hidden_size; ++i) {
      batch.encoder_states.push_back(random.normal());
    }
  }
}

}  // namespace

TokenBatch random_ids(const StackConfig& config, int max_tokens, std::size_t texts,
                      std::uint64_t seed) {
  Random random(seed);
  TokenBatch batch;
  const int longest = std::min(kLongest, max_tokens);
  for (std::size_t text = 0; text < texts; ++text) {
    // Lone tokens give the most extreme activations: attention averages nothing into them.
    const std::int32_t length = text % 2 == 0 ? 1 + random.below(longest) : 1;
    const bool pair = text % 3 == 2 && config.type_vocab_size > 1;
    for (std::int32_t i = 0; i < length; ++i) {
      batch.ids.push_back(random.below(config.vocab_size));
      batch.type_ids.push_back(pair && i >= length / 2 ? 1 : 0);
    }
    batch.lengths.push_back(length);
  }
  return batch;
}

ModelBatch complete_batch(const ModelConfig& config, TokenBatch texts, bool repeat_texts,
                          int max_tokens, std::uint64_t seed) {
  const StackConfig& last = config.last();
  if (config.stacks.size() == 1) {
    if (last.cross_attention) add_random_sources(last, seed, texts);
    return {std::move(texts), {}};
  }
  if (repeat_texts && config.first().vocab_size == last.vocab_size) {
    TokenBatch targets{texts.ids, {}, texts.lengths};
    return {std::move(targets), std::move(texts)};
  }
  TokenBatch targets = random_ids(last, max_tokens, texts.lengths.size(), seed);
  std::size_t first = 0;
  for (const std::int32_t length : targets.lengths) {
    if (config.decoder_start_token_id >= 0) targets.ids[first] = config.decoder_start_token_id;
    first += static_cast<std::size_t>(length);
  }
  return {std::move(targets), std::move(texts)};
}

}  // namespace embert::convert
