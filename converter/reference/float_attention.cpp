// SPDX-License-Identifier: Apache-2.0
// Works on tiles: scores of kQueryTile queries, for which kKeyTile keys at a time are transposed so
// that the inner loop runs along keys.
#include "converter/reference/float_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "converter/reference/float_ops.hpp"
#include "converter/workers.hpp"

namespace embert::convert {
namespace {

constexpr std::size_t kQueryTile = 32;
constexpr std::size_t kKeyTile = 64;
static_assert(kMaxPositions % kKeyTile == 0);

// In lanes as well: one running maximum would wait for itself at every value.
float largest(const float* values, std::size_t count) {
  float lanes[kLanes];
  std::fill(lanes, lanes + kLanes, values[0]);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = values[i + lane] > lanes[lane] ? values[i + lane] : lanes[lane];
    }
  }
  for (; i < count; ++i) lanes[0] = values[i] > lanes[0] ? values[i] : lanes[0];
  return *std::max_element(lanes, lanes + kLanes);
}

// keys [count, head_size], rows `stride` apart -> out [head_size, kKeyTile], zero beyond count
void transpose_keys(const float* keys, std::size_t count, std::size_t head_size, std::size_t stride,
                    float* out) {
  std::fill(out, out + head_size * kKeyTile, 0.0F);
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t d = 0; d < head_size; ++d) out[d * kKeyTile + j] = keys[j * stride + d];
  }
}

// scores[j] = scale * query . key j, for kKeyTile transposed keys
void score_keys(const float* query, const float* keys, std::size_t head_size, float scale,
                float* scores) {
  float sums[kKeyTile] = {};
  std::size_t d = 0;
  for (; d + 4 <= head_size;
       d += 4) {  // four at a time: a sum is loaded and stored a quarter as often
    const float* key = keys + d * kKeyTile;
    const float q0 = query[d], q1 = query[d + 1], q2 = query[d + 2], q3 = query[d + 3];
    for (std::size_t j = 0; j < kKeyTile; ++j) {
      sums[j] += (q0 * key[j] + q1 * key[j + kKeyTile]) +
                 (q2 * key[j + 2 * kKeyTile] + q3 * key[j + 3 * kKeyTile]);
    }
  }
  for (; d < head_size; ++d) {
    for (std::size_t j = 0; j < kKeyTile; ++j) sums[j] += query[d] * keys[d * kKeyTile + j];
  }
  for (std::size_t j = 0; j < kKeyTile; ++j) scores[j] = scale * sums[j];
}

// context = sum over j of weights[j] * value j
void mix_values(const float* weights, const float* values, std::size_t count, std::size_t head_size,
                std::size_t stride, float* context) {
  float sums[kMaxHeadSize] = {};
  std::size_t j = 0;
  for (; j + 4 <= count; j += 4) {
    const float* v = values + j * stride;
    const float w0 = weights[j], w1 = weights[j + 1], w2 = weights[j + 2], w3 = weights[j + 3];
    for (std::size_t d = 0; d < head_size; ++d) {
      sums[d] +=
          (w0 * v[d] + w1 * v[d + stride]) + (w2 * v[d + 2 * stride] + w3 * v[d + 3 * stride]);
    }
  }
  for (; j < count; ++j) {
    for (std::size_t d = 0; d < head_size; ++d) sums[d] += weights[j] * values[j * stride + d];
  }
  std::copy(sums, sums + head_size, context);
}

void softmax(float* scores, std::size_t count) {
  const float most = largest(scores, count);
  for (std::size_t j = 0; j < count; ++j) scores[j] = std::exp(scores[j] - most);
  const float total = sum_lanes<float>(count, [&](std::size_t j) { return scores[j]; });
  for (std::size_t j = 0; j < count; ++j) scores[j] /= total;
}

// One head of one text; pointers at the head's first column of the text's first row.
struct HeadInput {
  const float *query, *key, *value;
  std::size_t queries, keys, stride;
  const std::uint8_t* key_mask;        // [keys] or null
  const std::uint8_t* query_key_mask;  // [queries, keys] or null
  float factor;
};

// scores[j] += scale * (q.E + k.E) for the distances of query i to `keys` keys.
void add_relative_positions(const AttentionInput& in, const HeadInput& head, std::size_t i,
                            std::size_t keys, float scale, float* scores) {
  const std::size_t last = (in.distances->rows - 1) / 2;  // the row of distance 0
  const float* const query = head.query + i * head.stride;
  const auto dot = [&](const float* a, const float* b) {
    return sum_lanes<float>(in.head_size, [&](std::size_t d) { return a[d] * b[d]; });
  };
  for (std::size_t j = 0; j < keys; ++j) {
    const float* const distance = in.distances->row(last + i - j);
    float sum = dot(query, distance);
    if (in.position_kind == PositionKind::kRelativeKeyQuery) {
      sum += dot(head.key + j * head.stride, distance);
    }
    scores[j] += scale * sum;
  }
}

void hide_keys(const HeadInput& head, std::size_t i, std::size_t keys, float* scores) {
  if (head.key_mask == nullptr && head.query_key_mask == nullptr) return;
  const std::uint8_t* const pairs =
      head.query_key_mask == nullptr ? nullptr : head.query_key_mask + i * head.keys;
  for (std::size_t j = 0; j < keys; ++j) {
    const bool hidden =
        (head.key_mask != nullptr && head.key_mask[j] == 0) || (pairs != nullptr && pairs[j] == 0);
    if (hidden) scores[j] += std::numeric_limits<float>::lowest();
  }
}

void attend_head(const AttentionInput& in, const HeadInput& head, float* context,
                 float* probabilities) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(in.head_size));
  float scores[kQueryTile][kMaxPositions];
  float tile[static_cast<std::size_t>(kMaxHeadSize) * kKeyTile];
  for (std::size_t first = 0; first < head.queries; first += kQueryTile) {
    const std::size_t queries = std::min(kQueryTile, head.queries - first);
    for (std::size_t key = 0; key < head.keys; key += kKeyTile) {
      transpose_keys(head.key + key * head.stride, std::min(kKeyTile, head.keys - key),
                     in.head_size, head.stride, tile);
      for (std::size_t i = 0; i < queries; ++i) {
        score_keys(head.query + (first + i) * head.stride, tile, in.head_size, scale,
                   scores[i] + key);
      }
    }
    for (std::size_t i = 0; i < queries; ++i) {
      const std::size_t query = first + i;
      const std::size_t keys = in.causal ? query + 1 : head.keys;
      if (in.distances != nullptr) add_relative_positions(in, head, query, keys, scale, scores[i]);
      hide_keys(head, query, keys, scores[i]);
      softmax(scores[i], keys);
      if (head.factor != 1) {
        for (std::size_t j = 0; j < keys; ++j) scores[i][j] *= head.factor;
      }
      mix_values(scores[i], head.value, keys, in.head_size, head.stride,
                 context + query * head.stride);
      if (probabilities == nullptr) continue;
      float* const row = probabilities + query * head.keys;
      std::fill(std::copy_n(scores[i], keys, row), row + head.keys, 0.0F);
    }
  }
}

// Where a text's rows and masks begin.
struct TextStart {
  std::size_t query = 0, key = 0, pair = 0;
};

}  // namespace

void attend(pthreadpool_t pool, const AttentionInput& in, float* context, float* probabilities) {
  const auto queries = [&](std::size_t text) {
    return static_cast<std::size_t>(in.query_lengths[text]);
  };
  const auto keys = [&](std::size_t text) {
    return static_cast<std::size_t>(in.key_lengths[text]);
  };
  std::vector<TextStart> starts;
  TextStart start;
  for (std::size_t text = 0; text < in.query_lengths.size(); ++text) {
    starts.push_back(start);
    start.query += queries(text);
    start.key += keys(text);
    start.pair += queries(text) * keys(text);
  }
  const std::size_t stride = in.heads * in.head_size;
  pthreadpool_parallelize_1d(
      pool,
      [&](std::size_t task) {
        const std::size_t text = task / in.heads, h = task % in.heads;
        const TextStart& at = starts[text];
        const std::size_t query = at.query * stride + h * in.head_size;
        const std::size_t key = at.key * stride + h * in.head_size;
        HeadInput head{};
        head.query = in.query + query;
        head.key = in.key + key;
        head.value = in.value + key;
        head.queries = queries(text);
        head.keys = keys(text);
        head.stride = stride;
        head.key_mask = in.key_mask == nullptr ? nullptr : in.key_mask + at.key;
        head.query_key_mask = in.query_key_mask == nullptr ? nullptr : in.query_key_mask + at.pair;
        head.factor = in.head_mask == nullptr ? 1.0F : in.head_mask[h];
        attend_head(in, head, context + query,
                    probabilities == nullptr
                        ? nullptr
                        : probabilities + at.pair * in.heads + h * head.queries * head.keys);
      },
      starts.size() * in.heads, kPoolFlags);
}

}  // namespace embert::convert
