// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/attention/head_projections.hpp"

#include <string.h>

#include "kernels/arithmetic/layout.hpp"
#include "runtime/engine/heads/task_heads.hpp"
#include "runtime/engine/planes.hpp"

namespace embert {
namespace {

/// The sums that become keys and values of tokens row .. row + m - 1.
struct KvSums {
  Requantize key, value;  ///< of the head's columns
  bool score_planes;      ///< keys of 16 bits
  size_t row, m;
  size_t head_size;
  const int32_t* acc;  ///< [m][2 N(D)]: keys, then values
  size_t stride;       ///< elements
};

void store_kv(const Kernels& kernels, const KvSums& sums, const KvView& kv) {
  // The layout keeps tokens in groups of four. Only the appending kernels write into the middle of
  // a group.
  const bool aligned = sums.row % kStepInputs == 0;
  const auto store_keys = sums.score_planes ? kernels.requantize_key_s8x2
                          : aligned         ? kernels.requantize_key
                                            : kernels.append_key;
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

/// To 16 bits where `factor`, of a layer with kPlanesScores, leads to 8. The validator sees to it
/// that the left shift stays within its range.
Requantize finer_by_a_byte(Requantize factor) {
  constexpr int32_t kBits = 8;
  if (factor.right >= kBits) {
    factor.right -= kBits;
  } else {
    factor.left += kBits - factor.right;
    factor.right = 0;
  }
  return factor;
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

}  // namespace

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
  uint8_t* query = run.scratch<uint8_t>(at.task, plan.query);  // [length][K(D)], or of two planes
  const bool score_planes = layer.self.score_planes;
  const size_t query_bytes = score_planes ? 2 * pad_inputs(n) : pad_inputs(n);
  const size_t query_rows = score_planes ? 2 : 1;

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
    if (score_planes) {
      query_factor = finer_by_a_byte(query_factor);
      key_factor = finer_by_a_byte(key_factor);
    }
    if (queries > 0) {
      const auto requantize =
          score_planes ? kernels.requantize_query_s8x2 : kernels.requantize_query;
      requantize({.m = queries,
                  .n = n,
                  .acc = acc,
                  .acc_stride = stride,
                  .factor = query_factor,
                  .dst = query + row * query_rows * query_bytes,
                  .dst_stride = query_bytes});
    }
    store_kv(kernels,
             {.key = key_factor,
              .value = own_value ? from_column(in.value->factor, at.head * columns)
                                 : from_column(layer.self.value, first),
              .score_planes = score_planes,
              .row = text.past + row,
              .m = m,
              .head_size = n,
              .acc = acc + columns,
              .stride = stride},
             kv);
  }
}

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
                .score_planes = false,
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
