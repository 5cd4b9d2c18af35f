// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/attention.hpp"

#include <string.h>

#include "kernels/arithmetic/layout.hpp"
#include "runtime/engine/heads/task_heads.hpp"
#include "runtime/engine/kv_cache.hpp"
#include "runtime/engine/local_attention.hpp"
#include "runtime/engine/planes.hpp"

namespace embert {
namespace {

/// An attention head over one text, and the task that computes it.
struct HeadTask {
  const TextRows& text;
  size_t head;
  size_t task;
};

Requantize from_column(Requantize factor, size_t column) {
  factor.multiplier += column;
  return factor;
}

/// The sums that become keys and values of tokens row .. row + m - 1.
struct KvSums {
  Requantize key, value;  ///< of the head's columns
  size_t row, m;
  size_t head_size;
  const int32_t* acc;  ///< [m][2 N(D)]: keys, then values
  size_t stride;       ///< elements
};

void store_kv(const Kernels& kernels, const KvSums& sums, const KvView& kv) {
  // The layout keeps tokens in groups of four. Only the appending kernels write into the middle of
  // a group.
  const bool aligned = sums.row % kStepInputs == 0;
  const auto store_keys = aligned ? kernels.requantize_key : kernels.append_key;
  const auto store_values = aligned ? kernels.requantize_value : kernels.append_value;
  store_keys({.m = sums.m,
              .n = sums.head_size,
              .row0 = sums.row,
              .acc = sums.acc,
              .acc_stride = sums.stride,
              .factor = sums.key,
              .dst = kv.keys,
              .sums = kv.key_sums});
  store_values({.m = sums.m,
                .n = sums.head_size,
                .row0 = sums.row,
                .k = kv.value_inputs,
                .acc = sums.acc + pad_columns(sums.head_size),
                .acc_stride = sums.stride,
                .factor = sums.value,
                .dst = kv.values,
                .sums = lhs_correction(LhsType::kUnsigned) != 0 ? kv.value_sums : nullptr});
}

/// The scores GEMM computes whole panels of 16 keys. Nobody reads its results for the columns
/// behind the last key, but its sums must not overflow there.
void clear_padding(const KvView& kv) {
  for (size_t token = kv.count; token < pad_columns(kv.count); ++token) kv.key_sums[token] = 0;
}

/// Sums of queries or keys of tokens row .. row + m - 1 of a text.
struct RotatedSums {
  size_t row, m;
  int32_t* acc;       ///< [m][D]
  size_t stride;      ///< elements
  Requantize factor;  ///< of the head's columns, to 16 bits
};

/// Turns queries or keys by their positions, in place. Positions of the caller may be any.
void rotate(const Run& run, const Rotary& rotary, const TextRows& text, const RotatedSums& sums) {
  const size_t n = run.head_size();
  const int32_t* ids = run.input.position_ids;
  const size_t step = ids != nullptr ? 1 : sums.m;  // rows whose angles lie one behind the other
  for (size_t i = 0; i < sums.m; i += step) {
    const size_t position =
        ids != nullptr ? static_cast<size_t>(ids[text.begin + sums.row + i]) : text.past + sums.row;
    run.engine.kernels.rotate({.m = step,
                               .n = n,
                               .acc = sums.acc + i * sums.stride,
                               .acc_stride = sums.stride,
                               .factor = sums.factor,
                               .angles = rotary.angles + position * n});
  }
}

/// Queries, keys and values of one head over one text. Queries go into the task's scratch.
void project_self(const Run& run, const Layer& layer, const AttentionRows& in, const HeadTask& at,
                  const KvView& kv) {
  const StackPlan& plan = run.plan;
  const Kernels& kernels = run.engine.kernels;
  const TextRows& text = at.text;
  const size_t n = run.head_size(), inputs = pad_inputs(in.width), columns = pad_columns(n);
  const bool own_value = built(kStackBottleneck) && in.value != nullptr;
  const size_t parts = own_value ? 2 : 3;
  const size_t first = at.head * parts * columns;  // the head's first column
  const size_t planes = layer.qkv_reads_planes(kPlanesAll) ? 2 : 1,
               stride = planes * plan.acc_columns;
  uint8_t* lhs = run.scratch<uint8_t>(at.task, plan.lhs);      // [block][lhs_stride]
  int32_t* acc = run.scratch<int32_t>(at.task, plan.acc);      // [block][acc_columns]
  uint8_t* query = run.scratch<uint8_t>(at.task, plan.query);  // [length][K(D)]

  clear_padding(kv);
  size_t m = 0;
  for (size_t row = 0; row < text.length; row += m) {
    m = block_rows(text.length - row, kBlockRows / planes);
    const size_t queries = text.queries > row ? smaller(m, text.queries - row) : 0;
    const auto convert = [&](uint64_t rows, size_t width) {
      const int16_t* values = run.at<int16_t>(rows) + (text.begin + row) * width;
      make_lhs(run, at.task, {values, m, width}, planes);
    };
    convert(in.rows, in.width);
    // Queries, keys and values in one product where all rows are queries, else in two.
    const bool all = queries == m;
    project(run, layer.qkv,
            {.first_column = all ? first : first + columns,
             .columns = (all ? parts : parts - 1) * columns,
             .m = m,
             .k = inputs,
             .planes = planes,
             .lhs = lhs,
             .acc = all ? acc : acc + columns});
    if (!all && queries > 0) {
      project(run, layer.qkv,
              {.first_column = first,
               .columns = columns,
               .m = queries,
               .k = inputs,
               .planes = planes,
               .lhs = lhs,
               .acc = acc});
    }
    if (layer.qkv_reads_planes(kPlanesFirst) && text.past + row == 0) {
      // The sums of the text's first token once more, from its 16 bits.
      make_lhs(run, at.task, {run.at<int16_t>(in.rows) + text.begin * in.width, 1, in.width}, 2);
      int32_t* sums = acc + kBlockRows * plan.acc_columns;
      project(run, layer.qkv,
              {.first_column = first,
               .columns = parts * columns,
               .m = 1,
               .k = inputs,
               .planes = 2,
               .lhs = lhs,
               .acc = sums});
      memcpy(acc, sums, parts * columns * sizeof(int32_t));
    }
    if (own_value) {
      convert(in.value_rows, in.value_width);
      project(run, *in.value,
              {.first_column = at.head * columns,
               .columns = columns,
               .m = m,
               .k = pad_inputs(in.value_width),
               .planes = 1,
               .lhs = lhs,
               .acc = acc + 2 * columns});
    }
    Requantize query_factor = from_column(layer.self.query, first);
    Requantize key_factor = from_column(layer.self.key, first);
    if (layer.rotary.turns()) {
      rotate(run, layer.rotary, text, {row, queries, acc, stride, query_factor});
      rotate(run, layer.rotary, text, {row, m, acc + columns, stride, key_factor});
      query_factor = key_factor = layer.rotary.factor;
    }
    if (queries > 0) {
      kernels.requantize_query({.m = queries,
                                .n = n,
                                .acc = acc,
                                .acc_stride = stride,
                                .factor = query_factor,
                                .dst = query + row * pad_inputs(n),
                                .dst_stride = pad_inputs(n)});
    }
    store_kv(kernels,
             {.key = key_factor,
              .value = own_value ? from_column(in.value->factor, at.head * columns)
                                 : from_column(layer.self.value, first),
              .row = text.past + row,
              .m = m,
              .head_size = n,
              .acc = acc + columns,
              .stride = stride},
             kv);
  }
}

/// Queries of one head for cross-attention, into the task's scratch.
void project_cross_query(const Run& run, const Layer& layer, const HeadTask& at) {
  const StackPlan& plan = run.plan;
  const Kernels& kernels = run.engine.kernels;
  const TextRows& text = at.text;
  const size_t hidden = run.hidden_size(), n = run.head_size(), columns = pad_columns(n);
  const size_t first = at.head * columns;
  const int16_t* rows = run.at<int16_t>(plan.normalized) + text.first_query * hidden;
  uint8_t* lhs = run.scratch<uint8_t>(at.task, plan.lhs);      // [block][lhs_stride]
  int32_t* acc = run.scratch<int32_t>(at.task, plan.acc);      // [block][acc_columns]
  uint8_t* query = run.scratch<uint8_t>(at.task, plan.query);  // [length][K(D)]
  size_t m = 0;
  for (size_t row = 0; row < text.queries; row += m) {
    m = block_rows(text.queries - row, kBlockRows);
    kernels.convert_s8_s16({.m = m,
                            .k = hidden,
                            .src = rows + row * hidden,
                            .src_stride = hidden,
                            .dst = lhs,
                            .dst_stride = plan.lhs_stride});
    project(run, layer.cross_query,
            {.first_column = first,
             .columns = columns,
             .m = m,
             .k = pad_inputs(hidden),
             .planes = 1,
             .lhs = lhs,
             .acc = acc});
    kernels.requantize_query({.m = m,
                              .n = n,
                              .acc = acc,
                              .acc_stride = plan.acc_columns,
                              .factor = from_column(layer.cross.query, first),
                              .dst = query + row * pad_inputs(n),
                              .dst_stride = pad_inputs(n)});
  }
}

/// A block of a head's queries and their scores.
struct ScoreBlock {
  size_t row, m;         ///< queries row .. row + m - 1 of the text
  const uint8_t* query;  ///< [m][K(D)]
  int32_t* scores;       ///< [m][N(keys)], row stride `stride`
  size_t stride;         ///< elements
};

/// Adds the relative positions to a block of scores: column P - 1 + key position - query position.
void add_relative_positions(const Run& run, const RelativePositions& relative, const HeadTask& at,
                            const ScoreBlock& block, const KvView& kv) {
  const Kernels& kernels = run.engine.kernels;
  const size_t inputs = pad_inputs(run.head_size()), stride = run.plan.products_stride, m = block.m;
  const size_t middle = run.stack.config->max_positions - 1, position = at.text.past + block.row;
  int32_t* products = run.scratch<int32_t>(at.task, run.plan.products);  // [block][products_stride]
  const auto signed_stride = static_cast<ptrdiff_t>(stride);
  // Multiplies rows with the columns of keys key .. key + count - 1 for all queries of the block.
  // Returns the product of the first row for the first query and the first key.
  const auto multiply = [&](const uint8_t* lhs, size_t rows, size_t key, size_t count) {
    const size_t first = middle + key - (position + m - 1);  // of the last query
    const size_t panel = first / kPanelColumns * kPanelColumns;
    kernels.gemm({.m = rows,
                  .n = pad_columns(first - panel + count + m - 1),
                  .k = inputs,
                  .lhs = lhs,
                  .lhs_stride = inputs,
                  .lhs_type = LhsType::kSigned,
                  .rhs = relative.table + panel * inputs,
                  .bias = nullptr,
                  .sums = relative.sums + panel,
                  .dst = products,
                  .dst_stride = stride});
    return products + (first - panel + m - 1);
  };
  // A query's row holds its products with the columns of all keys. All queries share a bias.
  const bool biased = relative.bias != nullptr;
  const int32_t* query_products =
      biased ? relative.bias + at.head * (2 * middle + 1) + middle - position
             : multiply(block.query, m, 0, kv.count);
  kernels.add_relative_positions({.m = m,
                                  .n = kv.count,
                                  .products = query_products,
                                  .row_step = biased ? -1 : signed_stride - 1,
                                  .col_step = 1,
                                  .multiplier = relative.query.multiplier[at.head],
                                  .left = relative.query.left,
                                  .right = relative.query.right,
                                  .scores = block.scores,
                                  .scores_stride = block.stride});
  if (relative.key.multiplier == nullptr) return;
  // A key's row holds its products with the columns of all queries of the block.
  uint8_t* key_rows = run.scratch<uint8_t>(at.task, run.plan.key_rows);  // [block][K(D)]
  for (size_t key = 0; key < kv.count; key += kBlockRows) {
    const size_t count = smaller(kBlockRows, kv.count - key);
    for (size_t i = 0; i < count; ++i) {
      for (size_t c = 0; c < inputs; ++c) {
        key_rows[i * inputs + c] =
            static_cast<uint8_t>(kv.keys[n16k4_index(key + i, c, inputs)]) ^ kSignedLhsFlip;
      }
    }
    const int32_t* key_products = multiply(key_rows, count, key, count);
    kernels.add_relative_positions({.m = m,
                                    .n = count,
                                    .products = key_products,
                                    .row_step = -1,
                                    .col_step = signed_stride + 1,
                                    .multiplier = relative.key.multiplier[at.head],
                                    .left = relative.key.left,
                                    .right = relative.key.right,
                                    .scores = block.scores + key,
                                    .scores_stride = block.stride});
  }
}

enum class Attended { kSelf, kSource };

size_t key_count(const Run& run, const TextRows& text, Attended whose) {
  return whose == Attended::kSelf
             ? text.past + text.length
             : source_cache(run.engine).length(source_of(run.engine, text.text));
}

/// (query, key) pairs of the texts before text `end`.
size_t pairs_before(const Run& run, size_t end, Attended whose) {
  size_t pairs = 0;
  for (TextRows text = first_text(run, Queries::kAll); text.text < end;
       text = next_text(run, Queries::kAll, text)) {
    pairs += text.length * key_count(run, text, whose);
  }
  return pairs;
}

/// A text's part [length][keys] of a mask, or null.
const uint8_t* text_mask(const Run& run, const uint8_t* mask, const TextRows& text,
                         Attended whose) {
  return mask != nullptr ? mask + pairs_before(run, text.text, whose) : nullptr;
}

/// A head's part [length][keys] of the caller's probabilities, or null. These are, for each layer
/// and in it for each text, [num_heads][length][keys].
uint16_t* head_probabilities(const Run& run, size_t layer, const HeadTask& at,
                             uint16_t* probabilities, Attended whose) {
  if (probabilities == nullptr) return nullptr;
  const size_t heads = run.stack.config->num_heads;
  const size_t pairs =
      layer * pairs_before(run, run.input.batch, whose) + pairs_before(run, at.text.text, whose);
  return probabilities + heads * pairs + at.head * at.text.length * key_count(run, at.text, whose);
}

constexpr int32_t kHeadMaskOne = 32768;

/// Twice the factor. If no shift remains, the result saturates regardless.
Requantize doubled(Requantize factor) {
  if (factor.right > 0) {
    --factor.right;
  } else if (factor.left < 15) {
    ++factor.left;
  }
  return factor;
}

int32_t head_mask_factor(const Run& run, size_t layer, size_t head) {
  const embert_input& input = run.input;
  if (input.head_mask == nullptr) return kHeadMaskOne;
  const size_t row = input.head_mask_layers != 0 ? layer : 0;
  return input.head_mask[row * run.stack.config->num_heads + head];
}

/// How a head attends, beside its keys and values.
struct Attending {
  const Attention& attention;
  const RelativePositions* relative;  ///< or null
  const uint8_t* pair_mask;           ///< [length][keys] or null
  const uint8_t* query_mask;          ///< [length] or null
  bool causal;
  size_t reach;             ///< largest distance to a key that a query sees; SIZE_MAX: no limit
  uint16_t* probabilities;  ///< out [length][keys] or null
};

/// softmax(Q K^T / sqrt(D)) V of one head over one text, into the context.
void attend(const Run& run, size_t layer, const HeadTask& at, const Attending& how,
            const KvView& kv) {
  const StackPlan& plan = run.plan;
  const Kernels& kernels = run.engine.kernels;
  const TextRows& text = at.text;
  const size_t n = run.head_size(), inputs = pad_inputs(n), columns = pad_columns(n);
  const size_t key_columns = pad_columns(kv.count);
  const uint8_t* query = run.scratch<uint8_t>(at.task, plan.query);  // [length][K(D)]
  const size_t planes = how.attention.planes();
  const size_t block_size = kBlockRows / planes;
  Reciprocal* reciprocals = run.scratch<Reciprocal>(at.task, plan.reciprocals);  // [block]
  int32_t* scores = run.scratch<int32_t>(at.task, plan.scores);                  // [block][N(keys)]
  // In the rows of the scores; two planes u8 [2 block][N(keys)] behind the scores of half a block.
  uint8_t* exponentials = run.scratch<uint8_t>(at.task, plan.scores);
  if (planes > 1) exponentials += 4 * block_size * key_columns;
  const size_t exponentials_stride = planes > 1 ? key_columns : 4 * key_columns;
  int32_t* sums = run.scratch<int32_t>(at.task, plan.context_acc);  // [planes * block][2 N(D)]
  int16_t* context =
      run.at<int16_t>(plan.shared) + text.first_query * plan.context_stride + at.head * n;
  const uint32_t score_multiplier = how.attention.score_multipliers[at.head];
  const int32_t score_cap =
      planes > 1 ? score_cap_u14(score_multiplier) : how.attention.score_caps[at.head];
  const int32_t head_factor = head_mask_factor(run, layer, at.head);
  // Reciprocals have room for factors up to 1. A larger factor is halved, and its results doubled.
  const bool twice = head_factor > kHeadMaskOne;
  const Requantize head_context = from_column(how.attention.context, at.head * columns);
  const Requantize factor = twice ? doubled(head_context) : head_context;
  const bool masked = kv.mask != nullptr || how.pair_mask != nullptr || how.query_mask != nullptr;
  // A row to which masks leave no key attends to all of them, and probabilities are of all keys.
  const bool is_local = built(kStackLocalAttention) && how.reach < kv.count && !masked &&
                        how.probabilities == nullptr;

  size_t m = 0;
  for (size_t row = 0; row < text.queries; row += m) {
    m = block_rows(text.queries - row, block_size);
    const ScoreBlock block = {
        .row = row, .m = m, .query = query + row * inputs, .scores = scores, .stride = key_columns};
    const KeyRange keys =
        is_local ? local_range(kv, how.reach, text.past + row, m) : KeyRange{0, kv.count};
    const size_t key_inputs = pad_inputs(keys.count);
    kernels.gemm({.m = m,
                  .n = pad_columns(keys.count),
                  .k = inputs,
                  .lhs = block.query,
                  .lhs_stride = inputs,
                  .lhs_type = LhsType::kSigned,
                  .rhs = kv.keys + keys.first * inputs,
                  .bias = nullptr,
                  .sums = kv.key_sums + keys.first,
                  .dst = scores,
                  .dst_stride = key_columns});
    if (how.relative != nullptr) add_relative_positions(run, *how.relative, at, block, kv);
    if (how.reach < kv.count) {
      kernels.mask_distant({.m = m,
                            .n = keys.count,
                            .scores = scores,
                            .scores_stride = key_columns,
                            .diagonal = text.past + row - keys.first,
                            .reach = how.reach});
    }
    if (masked) {
      kernels.mask_scores(
          {.m = m,
           .n = kv.count,
           .scores = scores,
           .scores_stride = key_columns,
           .visible = how.causal ? text.past + row + 1 : kv.count,
           .key_mask = kv.mask,
           .pair_mask = how.pair_mask != nullptr ? how.pair_mask + row * kv.count : nullptr,
           .pair_stride = kv.count,
           .query_mask = how.query_mask != nullptr ? how.query_mask + row : nullptr});
    }
    const SoftmaxFn softmax = planes > 1 ? kernels.softmax_u8x2 : kernels.softmax;
    softmax({.m = m,
             .n = keys.count,
             .scores = scores,
             .scores_stride = key_columns,
             .score_multiplier = score_multiplier,
             .score_cap = score_cap,
             .dst = exponentials,
             .dst_stride = exponentials_stride,
             .row = reciprocals});
    if (head_factor != kHeadMaskOne) {
      const int32_t part = twice ? (head_factor + 1) / 2 : head_factor;
      for (size_t i = 0; i < m; ++i) reciprocals[i] = scale_reciprocal(reciprocals[i], part);
    }
    // In a growing cache, and for some keys of a text, the panels are longer than what is read, so
    // each takes a product of its own.
    const size_t step = kv.value_inputs == key_inputs ? 2 * columns : kPanelColumns;
    const int32_t* value_sums = kv.value_sums;
    if (is_local && keys.count < kv.count && lhs_correction(LhsType::kUnsigned) != 0) {
      value_sums = local_sums(kv, keys, columns, run.scratch<int32_t>(at.task, plan.products));
    }
    for (size_t column = 0; column < 2 * columns; column += step) {
      kernels.gemm({.m = planes * m,
                    .n = step,
                    .k = key_inputs,
                    .lhs = exponentials,
                    .lhs_stride = exponentials_stride,
                    .lhs_type = LhsType::kUnsigned,
                    .rhs = kv.values + column * kv.value_inputs + keys.first * kPanelColumns,
                    .bias = nullptr,
                    .sums = value_sums + column,
                    .dst = sums + column,
                    .dst_stride = 2 * columns});
    }
    if (planes > 1) {
      join_sums(run, {.acc = sums,
                      .stride = 2 * columns,
                      .m = m,
                      .n = 2 * columns,
                      .bias = nullptr,
                      .join_shift = 0});
    }
    kernels.requantize_context({.m = m,
                                .n = n,
                                .acc = sums,
                                .acc_stride = planes * 2 * columns,
                                .row = reciprocals,
                                .factor = factor,
                                .dst = context + row * plan.context_stride,
                                .dst_stride = plan.context_stride});
    if (how.probabilities != nullptr) {
      for (size_t i = 0; i < m && twice; ++i) --reciprocals[i].z;
      kernels.attention_probabilities({.m = m,
                                       .n = kv.count,
                                       .planes = planes,
                                       .exponentials = exponentials,
                                       .exponentials_stride = exponentials_stride,
                                       .row = reciprocals,
                                       .dst = how.probabilities + row * kv.count,
                                       .dst_stride = kv.count});
    }
  }
}

/// Where a head's own keys and values are: in the cache of a decoder, else in the task's scratch.
KvView self_kv(const Run& run, size_t layer, const HeadTask& at) {
  const TextRows& text = at.text;
  const size_t count = text.past + text.length;
  if (run.causal) return self_cache(run.engine).slot({layer, text.text, at.head}, count);
  KvView kv = view_slot(run.scratch<uint8_t>(at.task, run.plan.kv), run.plan.kv_slot, count,
                        pad_inputs(count));
  if (run.input.key_mask != nullptr) kv.mask = run.input.key_mask + text.begin;
  return kv;
}

/// Calls visit for the task's share of all (text, head) pairs, text by text.
template <typename Visit>
void for_heads(const Run& run, const Layer& layer, Queries queries, size_t task, Visit visit) {
  const size_t heads = layer.num_heads, threads = run.engine.options.threads;
  const size_t pairs = heads * run.input.batch;
  TextRows text = first_text(run, queries);
  for (size_t pair = pairs * task / threads; pair < pairs * (task + 1) / threads; ++pair) {
    while (text.text < pair / heads) text = next_text(run, queries, text);
    visit(HeadTask{text, pair % heads, task});
  }
}

}  // namespace

void self_attention(const Run& run, const Layer& layer, Queries queries, const AttentionRows& in) {
  const embert_input& input = run.input;
  const RelativePositions& relative = layer.relative_positions;
  parallel(run, [&, queries](size_t task) {
    for_heads(run, layer, queries, task, [&](const HeadTask& at) {
      const KvView kv = self_kv(run, layer.index, at);
      const Attending how = {
          .attention = layer.self,
          .relative = relative.table != nullptr || relative.bias != nullptr ? &relative : nullptr,
          .pair_mask = text_mask(run, input.pair_mask, at.text, Attended::kSelf),
          .query_mask = input.query_mask != nullptr ? input.query_mask + at.text.begin : nullptr,
          .causal = run.causal,
          .reach = layer.reach,
          .probabilities =
              head_probabilities(run, layer.index, at, run.output.attentions, Attended::kSelf)};
      project_self(run, layer, in, at, kv);
      attend(run, layer.index, at, how, kv);
    });
  });
}

void cross_attention(const Run& run, const Layer& layer, Queries queries) {
  parallel(run, [&, queries](size_t task) {
    const KvCache cache = source_cache(run.engine);
    for_heads(run, layer, queries, task, [&](const HeadTask& at) {
      const size_t source = source_of(run.engine, at.text.text);
      const KvView kv = cache.slot({layer.index, source, at.head}, cache.length(source));
      const Attending how = {
          .attention = layer.cross,
          .relative = nullptr,
          .pair_mask = text_mask(run, run.input.cross_mask, at.text, Attended::kSource),
          .query_mask = nullptr,
          .causal = false,
          .reach = SIZE_MAX,
          .probabilities = head_probabilities(run, layer.index, at, run.output.cross_attentions,
                                              Attended::kSource)};
      project_cross_query(run, layer, at);
      attend(run, layer.index, at, how, kv);
    });
  });
}

void project_source(const Buffers& buffers, const Layer& layer, const SourceStates& states) {
  const BlobStack& config = last_config(buffers.engine);
  const size_t width = config.cross_hidden_size, columns = pad_columns(config.head_size);
  const KvCache cache = source_cache(buffers.engine);
  for (size_t head = 0; head < layer.num_heads; ++head) {
    const KvView kv = cache.slot({layer.index, states.source, head}, states.length);
    clear_padding(kv);
    const size_t first = head * 2 * columns;
    for (size_t row = 0; row < states.length; row += kBlockRows / 2) {
      const size_t m = smaller(kBlockRows / 2, states.length - row);
      const Rows16 block = {states.rows + row * width, m, width};
      convert_to_planes(buffers, block);
      const int32_t* sums =
          dense16_sums(buffers, layer.cross_key_value, block, {first, 2 * columns});
      store_kv(buffers.engine.kernels,
               {.key = from_column(layer.cross.key, first),
                .value = from_column(layer.cross.value, first),
                .row = row,
                .m = m,
                .head_size = config.head_size,
                .acc = sums,
                .stride = size_t{2} * buffers.plan.acc_columns},
               kv);
    }
  }
}

}  // namespace embert
