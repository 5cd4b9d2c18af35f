// SPDX-License-Identifier: Apache-2.0
// Scores are computed in tiles of kQueryTile queries and kKeyTile keys; the keys of a tile are
// transposed, so that the inner loop runs along keys.
#include "converter/reference/float_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "converter/arithmetic/elementary.hpp"
#include "converter/reference/float_ops.hpp"
#include "converter/workers.hpp"

namespace embert::convert {
namespace {

constexpr std::size_t kQueryTile = 32;
constexpr std::size_t kKeyTile = 64;
static_assert(kMaxPositions % kKeyTile == 0);

// In lanes: a single running maximum would make every value wait for the one before.
float largest_score(const float* values, std::size_t count) {
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

// keys [count, head_size], rows `stride` floats apart -> out [head_size, kKeyTile], zero from
// `count` on.
void transpose_keys(const float* keys, std::size_t count, std::size_t head_size, std::size_t stride,
                    float* out) {
  std::fill(out, out + head_size * kKeyTile, 0.0F);
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t d = 0; d < head_size; ++d) out[d * kKeyTile + j] = keys[j * stride + d];
  }
}

// scores[j] = scale * query . key j, for kKeyTile transposed keys.
void score_keys(const float* query, const float* keys, std::size_t head_size, float scale,
                float* scores) {
  float sums[kKeyTile] = {};
  std::size_t d = 0;
  for (; d + 4 <= head_size; d += 4) {  // four at a time: a quarter of the loads and stores of sums
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

// Rows of one attention head, `stride` floats apart.
struct ValueRows {
  const float* data;
  std::size_t rows, head_size, stride;
};

// context = sum over j of weights[j] * value j.
void mix_values(const float* weights, const ValueRows& values, float* context) {
  const std::size_t count = values.rows, head_size = values.head_size, stride = values.stride;
  float sums[kMaxHeadSize] = {};
  std::size_t j = 0;
  for (; j + 4 <= count; j += 4) {
    const float* v = values.data + j * stride;
    const float w0 = weights[j], w1 = weights[j + 1], w2 = weights[j + 2], w3 = weights[j + 3];
    for (std::size_t d = 0; d < head_size; ++d) {
      sums[d] +=
          (w0 * v[d] + w1 * v[d + stride]) + (w2 * v[d + 2 * stride] + w3 * v[d + 3 * stride]);
    }
  }
  for (; j < count; ++j) {
    for (std::size_t d = 0; d < head_size; ++d) sums[d] += weights[j] * values.data[j * stride + d];
  }
  std::copy(sums, sums + head_size, context);
}

void softmax(float* scores, std::size_t count) {
  const float most = largest_score(scores, count);
  for (std::size_t j = 0; j < count; ++j) {
    scores[j] = static_cast<float>(ieee::exp(static_cast<double>(scores[j] - most)));
  }
  const float total = sum_lanes<float>(count, [&](std::size_t j) { return scores[j]; });
  for (std::size_t j = 0; j < count; ++j) scores[j] /= total;
}

float score_scale(const AttentionInput& in) {
  return 1.0F / std::sqrt(static_cast<float>(in.head_size));
}

// One attention head of one text. Pointers lead to the head's first column in the text's first row.
struct TextHead {
  const float *query, *key, *value;
  std::size_t queries, keys, stride;
  const std::uint8_t* key_mask;        // [keys] or null
  const std::uint8_t* query_key_mask;  // [queries, keys] or null
  float mask_factor;                   // AttentionInput::head_mask
  const float* bias;  // of relative position 0, those of later keys behind it; or null
};

// scores[j] += scale * (q.E[i - j] + k.E[i - j]) for query i and its first `keys` keys; the second
// term with kRelativeKeyQuery only.
void add_relative_positions(const AttentionInput& in, const TextHead& head, std::size_t i,
                            std::size_t keys, float* scores) {
  const float scale = score_scale(in);
  const std::size_t zero = (in.relative_positions->rows - 1) / 2;  // row of relative position 0
  const float* const query = head.query + i * head.stride;
  const auto dot = [&](const float* a, const float* b) {
    return sum_lanes<float>(in.head_size, [&](std::size_t d) { return a[d] * b[d]; });
  };
  for (std::size_t j = 0; j < keys; ++j) {
    const float* const position = in.relative_positions->row(zero + i - j);
    float sum = dot(query, position);
    if (in.position_kind == PositionKind::kRelativeKeyQuery) {
      sum += dot(head.key + j * head.stride, position);
    }
    scores[j] += scale * sum;
  }
}

// Lowers the scores of hidden keys by the largest float32, as transformers does.
void hide_keys(const TextHead& head, std::size_t reach, std::size_t i, std::size_t keys,
               float* scores) {
  if (head.key_mask == nullptr && head.query_key_mask == nullptr && reach >= keys) return;
  const std::uint8_t* const pairs =
      head.query_key_mask == nullptr ? nullptr : head.query_key_mask + i * head.keys;
  for (std::size_t j = 0; j < keys; ++j) {
    const bool hidden = (head.key_mask != nullptr && head.key_mask[j] == 0) ||
                        (pairs != nullptr && pairs[j] == 0) || (i > j ? i - j : j - i) > reach;
    if (hidden) scores[j] += std::numeric_limits<float>::lowest();
  }
}

void attend_head(const AttentionInput& in, const TextHead& head, float* context,
                 float* probabilities) {
  const float scale = score_scale(in);
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
      if (in.relative_positions != nullptr) {
        add_relative_positions(in, head, query, keys, scores[i]);
      }
      for (std::size_t j = 0; head.bias != nullptr && j < keys; ++j) {
        scores[i][j] +=
            head.bias[static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(query)];
      }
      hide_keys(head, in.reach, query, keys, scores[i]);
      softmax(scores[i], keys);
      if (head.mask_factor != 1) {
        for (std::size_t j = 0; j < keys; ++j) scores[i][j] *= head.mask_factor;
      }
      mix_values(
          scores[i],
          {.data = head.value, .rows = keys, .head_size = in.head_size, .stride = head.stride},
          context + query * head.stride);
      if (probabilities == nullptr) continue;
      float* const row = probabilities + query * head.keys;
      std::fill(std::copy_n(scores[i], keys, row), row + head.keys, 0.0F);
    }
  }
}

// First query row, key row and entry of query_key_mask of a text.
struct TextStart {
  std::size_t query = 0, key = 0, pair = 0;
};

}  // namespace

void rotate_rows(const RotatedRows& rows, float* values) {
  const Matrix& angles = rows.angles;
  const std::size_t size = angles.cols, half = size / 2;
  std::size_t row = 0;
  for (const std::int32_t length : rows.lengths) {
    for (std::int32_t index = 0; index < length; ++index, ++row) {
      const auto position = rows.position_ids == nullptr ? index : rows.position_ids[row];
      const float* const cosine = angles.row(static_cast<std::size_t>(position));
      const float* const sine = cosine + half;
      for (std::size_t h = 0; h < rows.heads; ++h, values += size) {
        for (std::size_t i = 0; i < half; ++i) {
          const float a = values[i], b = values[i + half];
          values[i] = a * cosine[i] - b * sine[i];
          values[i + half] = b * cosine[i] + a * sine[i];
        }
      }
    }
  }
}

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
        const TextStart& start_of_text = starts[text];
        const std::size_t query = start_of_text.query * stride + h * in.head_size;
        const std::size_t key = start_of_text.key * stride + h * in.head_size;
        TextHead head{};
        head.query = in.query + query;
        head.key = in.key + key;
        head.value = in.value + key;
        head.queries = queries(text);
        head.keys = keys(text);
        head.stride = stride;
        head.key_mask = in.key_mask == nullptr ? nullptr : in.key_mask + start_of_text.key;
        head.query_key_mask =
            in.query_key_mask == nullptr ? nullptr : in.query_key_mask + start_of_text.pair;
        head.mask_factor = in.head_mask == nullptr ? 1.0F : in.head_mask[h];
        if (in.score_bias != nullptr) {
          head.bias = in.score_bias->row(h) + (in.score_bias->cols - 1) / 2;
        }
        attend_head(in, head, context + query,
                    probabilities == nullptr ? nullptr
                                             : probabilities + start_of_text.pair * in.heads +
                                                   h * head.queries * head.keys);
      },
      starts.size() * in.heads, kPoolFlags);
}

}  // namespace embert::convert
