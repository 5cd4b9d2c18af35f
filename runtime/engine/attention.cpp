// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/attention.hpp"

#include "kernels/arithmetic/layout.hpp"
#include "runtime/engine/kv_cache.hpp"

namespace embert {
namespace {

Requantize from_column(Requantize factor, size_t column) {
  factor.multiplier += column;
  return factor;
}

/// dst sums = lhs * columns first .. first + n of a dense layer.
void project(const Pass& pass, const Dense& dense, size_t first, size_t n, size_t m, size_t k,
             const uint8_t* lhs, int32_t* acc) {
  pass.engine.kernels.gemm({m, n, k, lhs, pass.plan.lhs_stride, LhsType::kSigned,
                            dense.weights + first * k, dense.bias + first, dense.sums + first, acc,
                            pass.plan.acc_columns});
}

/// Rows row .. row + m of keys and values from their sums; acc holds keys, then values.
void store_keys(const Pass& pass, const Attention& attention, size_t first, size_t row, size_t m,
                const int32_t* acc, size_t stride, const HeadKeys& keys) {
  const Kernels& kernels = pass.engine.kernels;
  const size_t n = pass.head_size(), columns = pad_columns(n);
  // Tokens are stored in steps of four: only the appending kernels write into the middle of one.
  const bool aligned = row % kStepInputs == 0;
  (aligned ? kernels.requantize_key : kernels.append_key)(
      {m, n, row, acc, stride, from_column(attention.key, first), keys.key, keys.key_sums});
  (aligned ? kernels.requantize_value : kernels.append_value)(
      {m, n, row, keys.value_inputs, acc + columns, stride, from_column(attention.value, first),
       keys.value, lhs_correction(LhsType::kUnsigned) != 0 ? keys.value_sums : nullptr});
}

/// The scores GEMM takes whole panels; what it makes of columns without a token is never read, but
/// it must not overflow.
void clear_padding(const HeadKeys& keys) {
  for (size_t token = keys.count; token < pad_columns(keys.count); ++token) {
    keys.key_sums[token] = 0;
  }
}

/// Queries, keys and values of one head over one text.
void project_self(const Pass& pass, size_t task, const TextRows& text, size_t head,
                  const HeadKeys& keys) {
  const Plan& plan = pass.plan;
  const Kernels& kernels = pass.engine.kernels;
  const Dense& qkv = pass.layer.qkv;
  const size_t hidden = pass.hidden_size(), n = pass.head_size();
  const size_t inputs = pad_inputs(hidden), columns = pad_columns(n);
  const size_t first = head * 3 * columns;  // the head's first column
  const int16_t* rows = pass.at<int16_t>(plan.normalized) + text.begin * hidden;
  uint8_t* lhs = pass.scratch<uint8_t>(task, plan.lhs);      // [block][lhs_stride]
  int32_t* acc = pass.scratch<int32_t>(task, plan.acc);      // [block][acc_columns]
  uint8_t* query = pass.scratch<uint8_t>(task, plan.query);  // [length][K(D)]

  clear_padding(keys);
  for (size_t row = 0; row < text.length; row += kBlockRows) {
    const size_t m = smaller(kBlockRows, text.length - row);
    const size_t queries = text.queries > row ? smaller(m, text.queries - row) : 0;
    kernels.convert_s8_s16({m, hidden, rows + row * hidden, hidden, lhs, plan.lhs_stride});
    if (queries == m) {
      project(pass, qkv, first, 3 * columns, m, inputs, lhs, acc);
    } else {
      project(pass, qkv, first + columns, 2 * columns, m, inputs, lhs, acc + columns);
      if (queries > 0) project(pass, qkv, first, columns, queries, inputs, lhs, acc);
    }
    if (queries > 0) {
      kernels.requantize_query({queries, n, acc, plan.acc_columns,
                                from_column(pass.layer.self.query, first),
                                query + row * pad_inputs(n), pad_inputs(n)});
    }
    store_keys(pass, pass.layer.self, first, text.past + row, m, acc + columns, plan.acc_columns,
               keys);
  }
}

/// Queries of one head for cross-attention.
void project_cross_query(const Pass& pass, size_t task, const TextRows& text, size_t head) {
  const Plan& plan = pass.plan;
  const Kernels& kernels = pass.engine.kernels;
  const size_t hidden = pass.hidden_size(), n = pass.head_size(), first = head * pad_columns(n);
  const int16_t* rows = pass.at<int16_t>(plan.normalized) + text.begin * hidden;
  uint8_t* lhs = pass.scratch<uint8_t>(task, plan.lhs);      // [block][lhs_stride]
  int32_t* acc = pass.scratch<int32_t>(task, plan.acc);      // [block][acc_columns]
  uint8_t* query = pass.scratch<uint8_t>(task, plan.query);  // [length][K(D)]
  for (size_t row = 0; row < text.queries; row += kBlockRows) {
    const size_t m = smaller(kBlockRows, text.queries - row);
    kernels.convert_s8_s16({m, hidden, rows + row * hidden, hidden, lhs, plan.lhs_stride});
    project(pass, pass.layer.cross_query, first, pad_columns(n), m, pad_inputs(hidden), lhs, acc);
    kernels.requantize_query({m, n, acc, plan.acc_columns,
                              from_column(pass.layer.cross.query, first),
                              query + row * pad_inputs(n), pad_inputs(n)});
  }
}

/// Adds what distances give to the scores of a block of queries: m rows from row on. Columns of the
/// table count P - 1 + key - query.
void add_distances(const Pass& pass, size_t task, const TextRows& text, size_t head, size_t row,
                   size_t m, const uint8_t* query, const HeadKeys& keys, int32_t* scores,
                   size_t scores_stride) {
  const Plan& plan = pass.plan;
  const Kernels& kernels = pass.engine.kernels;
  const Distances& distances = pass.layer.distances;
  const size_t inputs = pad_inputs(pass.head_size()), stride = plan.products_stride;
  const size_t middle = pass.stack.config->max_positions - 1, position = text.past + row;
  int32_t* products = pass.scratch<int32_t>(task, plan.products);  // [block][products_stride]
  const auto signed_stride = static_cast<ptrdiff_t>(stride);
  // Products of rows with the table's columns from the one of (query position + m - 1, key) on.
  const auto multiply = [&](const uint8_t* lhs, size_t rows, size_t key, size_t count) {
    const size_t first = middle + key - (position + m - 1),
                 panel = first / kPanelColumns * kPanelColumns;
    kernels.gemm({rows, pad_columns(first - panel + count + m - 1), inputs, lhs, inputs,
                  LhsType::kSigned, distances.table + panel * inputs, nullptr,
                  distances.sums + panel, products, stride});
    return products + (first - panel + m - 1);  // of the first query and the first key
  };

  const int32_t* of_queries = multiply(query, m, 0, keys.count);
  kernels.add_relative_positions({m, keys.count, of_queries, signed_stride - 1, 1,
                                  distances.query.multiplier[head], distances.query.left,
                                  distances.query.right, scores, scores_stride});
  if (distances.key.multiplier == nullptr) return;
  uint8_t* key_rows = pass.scratch<uint8_t>(task, plan.key_rows);  // [block][K(D)]
  for (size_t key = 0; key < keys.count; key += kBlockRows) {
    const size_t count = smaller(kBlockRows, keys.count - key);
    for (size_t i = 0; i < count; ++i) {
      for (size_t c = 0; c < inputs; ++c) {
        key_rows[i * inputs + c] =
            static_cast<uint8_t>(keys.key[n16k4_index(key + i, c, inputs)]) ^ kSignedLhsFlip;
      }
    }
    const int32_t* of_keys = multiply(key_rows, count, key, count);
    kernels.add_relative_positions({m, count, of_keys, -1, signed_stride + 1,
                                    distances.key.multiplier[head], distances.key.left,
                                    distances.key.right, scores + key, scores_stride});
  }
}

enum class KeysOf { kSelf, kSource };

size_t key_count(const Pass& pass, const TextRows& text, KeysOf whose) {
  return whose == KeysOf::kSelf ? text.past + text.length : source_length(pass, text);
}

/// (query, key) pairs of the texts before this one.
size_t pairs_before(const Pass& pass, const TextRows& text, KeysOf whose) {
  size_t pairs = 0;
  for (TextRows t = first_text(pass); t.text < text.text; t = next_text(pass, t)) {
    pairs += t.length * key_count(pass, t, whose);
  }
  return pairs;
}

const uint8_t* text_mask(const Pass& pass, const uint8_t* mask, const TextRows& text,
                         KeysOf whose) {
  return mask != nullptr ? mask + pairs_before(pass, text, whose) : nullptr;
}

/// Where a head's probabilities go in [layers] of texts' [num_heads][length][keys].
uint16_t* head_probabilities(const Pass& pass, uint16_t* probabilities, const TextRows& text,
                             size_t head, KeysOf whose) {
  if (probabilities == nullptr) return nullptr;
  const TextRows end = {pass.input.batch, 0, 0, 0, 0};
  const size_t heads = pass.stack.config->num_heads,
               of_layer = heads * pairs_before(pass, end, whose);
  return probabilities + pass.layer_index * of_layer + heads * pairs_before(pass, text, whose) +
         head * text.length * key_count(pass, text, whose);
}

constexpr int32_t kHeadMaskOne = 32768;

/// Twice the factor; where there is no place left, it saturates everything anyway.
Requantize doubled(Requantize factor) {
  if (factor.right > 0) {
    --factor.right;
  } else if (factor.left < 15) {
    ++factor.left;
  }
  return factor;
}

int32_t head_mask_factor(const Pass& pass, size_t head) {
  const embert_input& input = pass.input;
  if (input.head_mask == nullptr) return kHeadMaskOne;
  const size_t layer = input.head_mask_layers != 0 ? pass.layer_index : 0;
  return input.head_mask[layer * pass.stack.config->num_heads + head];
}

/// What a head of one text attends, beside keys and values.
struct Attending {
  const Attention& attention;
  const uint8_t* pair_mask;   ///< [length][keys] or null
  const uint8_t* query_mask;  ///< [length] or null
  bool causal;
  bool relative;
  uint16_t* probabilities;  ///< out [length][keys] or null
};

/// softmax(Q K^T / sqrt(D)) V of one head over one text, into the context.
void attend(const Pass& pass, size_t task, const TextRows& text, size_t head, const Attending& what,
            const HeadKeys& keys) {
  const Plan& plan = pass.plan;
  const Kernels& kernels = pass.engine.kernels;
  const size_t n = pass.head_size(), inputs = pad_inputs(n), columns = pad_columns(n);
  const size_t key_columns = pad_columns(keys.count), key_inputs = pad_inputs(keys.count);
  const uint8_t* query = pass.scratch<uint8_t>(task, plan.query);  // [length][K(D)]
  Reciprocal* reciprocals = pass.scratch<Reciprocal>(task, plan.reciprocals);
  int32_t* scores = pass.scratch<int32_t>(task, plan.scores);         // [block][key_columns]
  uint8_t* probabilities = pass.scratch<uint8_t>(task, plan.scores);  // in the rows of the scores
  int32_t* sums = pass.scratch<int32_t>(task, plan.context_acc);      // [block][2 N(D)]
  const size_t context_row = pass.is_pruned() ? text.text : text.begin;
  int16_t* context = pass.at<int16_t>(plan.shared) + context_row * plan.context_stride + head * n;
  const int32_t head_factor = head_mask_factor(pass, head);
  // Reciprocals have room for factors up to 1: above, they take half, and what is made of them is
  // doubled.
  const bool twice = head_factor > kHeadMaskOne;
  const Requantize of_columns = from_column(what.attention.context, head * columns);
  const Requantize factor = twice ? doubled(of_columns) : of_columns;
  const bool masked =
      keys.mask != nullptr || what.pair_mask != nullptr || what.query_mask != nullptr;

  for (size_t row = 0; row < text.queries; row += kBlockRows) {
    const size_t m = smaller(kBlockRows, text.queries - row);
    kernels.gemm({m, key_columns, inputs, query + row * inputs, inputs, LhsType::kSigned, keys.key,
                  nullptr, keys.key_sums, scores, key_columns});
    if (what.relative) {
      add_distances(pass, task, text, head, row, m, query + row * inputs, keys, scores,
                    key_columns);
    }
    if (masked) {
      kernels.mask_scores(
          {m, keys.count, scores, key_columns, what.causal ? text.past + row + 1 : keys.count,
           keys.mask, what.pair_mask != nullptr ? what.pair_mask + row * keys.count : nullptr,
           keys.count, what.query_mask != nullptr ? what.query_mask + row : nullptr});
    }
    kernels.softmax({m, keys.count, scores, key_columns, what.attention.score_multipliers[head],
                     what.attention.score_caps[head], probabilities, 4 * key_columns, reciprocals});
    if (head_factor != kHeadMaskOne) {
      const int32_t part = twice ? (head_factor + 1) / 2 : head_factor;
      for (size_t i = 0; i < m; ++i) reciprocals[i] = scale_reciprocal(reciprocals[i], part);
    }
    // A cache's panels are longer than the text.
    const size_t run = keys.value_inputs == key_inputs ? 2 * columns : kPanelColumns;
    for (size_t column = 0; column < 2 * columns; column += run) {
      kernels.gemm({m, run, key_inputs, probabilities, 4 * key_columns, LhsType::kUnsigned,
                    keys.value + column * keys.value_inputs, nullptr, keys.value_sums + column,
                    sums + column, 2 * columns});
    }
    kernels.requantize_context({m, n, sums, 2 * columns, reciprocals, factor,
                                context + row * plan.context_stride, plan.context_stride});
    if (what.probabilities != nullptr) {
      for (size_t i = 0; i < m && twice; ++i) --reciprocals[i].z;
      kernels.attention_probabilities({m, keys.count, probabilities, 4 * key_columns, reciprocals,
                                       what.probabilities + row * keys.count, keys.count});
    }
  }
}

/// Calls run(text, head) for the task's share of all pairs, text by text.
template <typename Run>
void for_pairs(const Pass& pass, size_t task, Run run) {
  const size_t heads = pass.layer.num_heads, threads = pass.engine.options.threads;
  const size_t pairs = heads * pass.input.batch;
  TextRows text = first_text(pass);
  for (size_t pair = pairs * task / threads; pair < pairs * (task + 1) / threads; ++pair) {
    while (text.text < pair / heads) text = next_text(pass, text);
    run(text, pair % heads);
  }
}

}  // namespace

void self_attention(const Pass& pass, size_t task) {
  for_pairs(pass, task, [&](const TextRows& text, size_t head) {
    const HeadKeys keys = self_keys(pass, task, text, head);
    const Attending what = {
        pass.layer.self,
        text_mask(pass, pass.input.pair_mask, text, KeysOf::kSelf),
        pass.input.query_mask != nullptr ? pass.input.query_mask + text.begin : nullptr,
        pass.causal,
        pass.layer.distances.table != nullptr,
        head_probabilities(pass, pass.output.attentions, text, head, KeysOf::kSelf)};
    project_self(pass, task, text, head, keys);
    attend(pass, task, text, head, what, keys);
  });
}

void cross_attention(const Pass& pass, size_t task) {
  for_pairs(pass, task, [&](const TextRows& text, size_t head) {
    const HeadKeys keys = source_keys(pass, text, head);
    const Attending what = {
        pass.layer.cross,
        text_mask(pass, pass.input.cross_mask, text, KeysOf::kSource),
        nullptr,
        false,
        false,
        head_probabilities(pass, pass.output.cross_attentions, text, head, KeysOf::kSource)};
    project_cross_query(pass, task, text, head);
    attend(pass, task, text, head, what, keys);
  });
}

void project_source(const Pass& pass, size_t source, const int16_t* states, size_t length) {
  const Plan& plan = pass.plan;
  const Kernels& kernels = pass.engine.kernels;
  const Dense16& dense = pass.layer.cross_key_value;
  const size_t width = pass.stack.config->cross_hidden_size, inputs = pad_inputs(width),
               columns = pad_columns(pass.head_size());
  uint8_t* planes = pass.scratch<uint8_t>(0, plan.lhs);  // [2 rows][lhs_stride]
  int32_t* acc = pass.scratch<int32_t>(0, plan.acc);     // [2 rows][acc_columns]
  const TextRows text = {source, 0, 0, 0, 0};
  for (size_t head = 0; head < pass.layer.num_heads; ++head) {
    HeadKeys keys = source_keys(pass, text, head);
    clear_padding(keys);
    const size_t first = head * 2 * columns;
    for (size_t row = 0; row < length; row += kBlockRows / 2) {
      const size_t m = smaller(kBlockRows / 2, length - row);
      kernels.convert_s8x2_s16(
          {m, width, states + row * width, width, planes, plan.lhs_stride, kSignedLhsFlip});
      kernels.gemm({2 * m, 2 * columns, inputs, planes, plan.lhs_stride, LhsType::kSigned,
                    dense.dense.weights + first * inputs, nullptr, dense.dense.sums + first, acc,
                    plan.acc_columns});
      // In place: a joined row takes the place of its two planes' first.
      kernels.convert_s32_s32x2({m, 2 * columns, acc, plan.acc_columns, dense.join_shift,
                                 dense.dense.bias + first, acc, 2 * size_t{plan.acc_columns}});
      store_keys(pass, pass.layer.cross, first, row, m, acc, 2 * size_t{plan.acc_columns}, keys);
    }
  }
}

}  // namespace embert
