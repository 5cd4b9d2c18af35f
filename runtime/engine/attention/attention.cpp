// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/attention/attention.hpp"

#include "kernels/arithmetic/layout.hpp"
#include "runtime/engine/attention/head_projections.hpp"
#include "runtime/engine/attention/local_attention.hpp"
#include "runtime/engine/attention/relative_positions.hpp"
#include "runtime/engine/planes.hpp"

namespace embert {
namespace {

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

/// Queries that attend at a time. More than 32 KB of scores leave no room in L1 for keys and
/// values: at 512 tokens a pass with 16 queries at a time takes 1.8 % less time than with 32 on an
/// Intel Xeon with AVX512-VNNI, and the same time with AVX2 and AVX-VNNI. A constant for all
/// processors: their L1 has 32 or 48 KB.
size_t block_queries(const Attention& attention, size_t key_columns) {
  if (attention.score_planes) return kBlockQueries4;
  constexpr size_t kMostKeys = 256;  // 32 KB of scores for kBlockRows queries
  return attention.planes() > 1 || key_columns > kMostKeys ? kBlockQueries2 : kBlockRows;
}

/// softmax(Q K^T / sqrt(D)) V of one head over one text, into the context.
void attend(const Run& run, size_t layer, const HeadTask& at, const Attending& how,
            const KvView& kv) {
  const StackPlan& plan = run.plan;
  const Kernels& kernels = run.engine.kernels;
  const TextRows& text = at.text;
  const size_t planes = how.attention.planes(), score_planes = how.attention.score_planes ? 2 : 1;
  const size_t n = run.head_size(), inputs = score_planes * pad_inputs(n), columns = pad_columns(n);
  const size_t key_columns = pad_columns(kv.count);
  // [length][K(D)], or of two planes
  const uint8_t* query = run.scratch<uint8_t>(at.task, plan.query);
  const size_t block_size = block_queries(how.attention, key_columns);
  Reciprocal* reciprocals = run.scratch<Reciprocal>(at.task, plan.reciprocals);  // [block]
  // [score_planes * block][N(keys)]; joined ones lie scores_stride apart.
  int32_t* scores = run.scratch<int32_t>(at.task, plan.scores);
  const size_t scores_stride = score_planes * key_columns;
  // In the rows of the scores; two planes u8 [2 block][N(keys)] behind the scores of the block.
  uint8_t* exponentials = run.scratch<uint8_t>(at.task, plan.scores);
  if (planes > 1) exponentials += 4 * block_size * scores_stride;
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
    const ScoreBlock block = {.row = row,
                              .m = m,
                              .query = query + row * score_planes * inputs,
                              .scores = scores,
                              .stride = scores_stride};
    const KeyRange keys =
        is_local ? local_range(kv, how.reach, text.past + row, m) : KeyRange{0, kv.count};
    const size_t key_inputs = pad_inputs(keys.count);
    kernels.gemm({.m = score_planes * m,
                  .n = pad_columns(keys.count),
                  .k = inputs,
                  .lhs = block.query,
                  .lhs_stride = inputs,
                  .lhs_type = LhsType::kSigned,
                  .rhs = kv.keys + keys.first * inputs,
                  .bias = nullptr,
                  .sums = kv.key_sums + keys.first,
                  .dst = scores,
                  .dst_stride = key_columns,
                  .planes = score_planes});
    if (score_planes > 1) {
      join_sums(run, {.acc = scores,
                      .stride = key_columns,
                      .m = m,
                      .n = pad_columns(keys.count),
                      .bias = nullptr,
                      .join_shift = kScorePlaneShift});
    }
    if (how.relative != nullptr) add_relative_positions(run, *how.relative, at, block, kv);
    if (how.reach < kv.count) {
      kernels.mask_distant({.m = m,
                            .n = keys.count,
                            .scores = scores,
                            .scores_stride = scores_stride,
                            .diagonal = text.past + row - keys.first,
                            .reach = how.reach});
    }
    if (masked) {
      kernels.mask_scores(
          {.m = m,
           .n = kv.count,
           .scores = scores,
           .scores_stride = scores_stride,
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
             .scores_stride = scores_stride,
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
                    .dst_stride = 2 * columns,
                    .planes = planes});
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

/// A decoder keeps a head's own keys and values in its cache, other models in the task's scratch.
KvView self_kv(const Run& run, size_t layer, const HeadTask& at) {
  const TextRows& text = at.text;
  const size_t count = text.past + text.length;
  if (run.causal) return self_cache(run.engine).slot({layer, text.text, at.head}, count);
  KvView kv = view_slot(run.scratch<uint8_t>(at.task, run.plan.kv), run.plan.kv_slot, count,
                        pad_inputs(count));
  if (run.input.key_mask != nullptr) kv.mask = run.input.key_mask + text.begin;
  return kv;
}

/// Runs visit(argument, at) for all (text, head) pairs, text by text.
void visit_heads(const Run& run, size_t heads, Queries queries,
                 void (*visit)(void* argument, const HeadTask& at), void* argument) {
  Items items(run.engine.options.threads);
  parallel(run, [&](size_t task) {
    TextRows text = first_text(run, queries);
    for (size_t pair = task; pair < heads * run.input.batch; pair = items.after(pair)) {
      while (text.text < pair / heads) text = next_text(run, queries, text);
      visit(argument, {text, pair % heads, task});
    }
  });
}

/// Runs visit(at) for all (text, head) pairs.
template <typename Visit>
void parallel_heads(const Run& run, const Layer& layer, Queries queries, Visit visit) {
  visit_heads(
      run, layer.num_heads, queries,
      [](void* argument, const HeadTask& at) { (*static_cast<const Visit*>(argument))(at); },
      &visit);
}

}  // namespace

void self_attention(const Run& run, const Layer& layer, Queries queries, const AttentionRows& in) {
  const embert_input& input = run.input;
  const RelativePositions& relative = layer.relative_positions;
  parallel_heads(run, layer, queries, [&](const HeadTask& at) {
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
}

void cross_attention(const Run& run, const Layer& layer, Queries queries) {
  const KvCache cache = source_cache(run.engine);
  parallel_heads(run, layer, queries, [&](const HeadTask& at) {
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
}

}  // namespace embert
