// SPDX-License-Identifier: Apache-2.0
// The integers of options that only some members of the family have: relative positions, two
// planes, pre-LayerNorm sums, pairs of stacks, language heads.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "converter/calibrate/measure_ranges.hpp"
#include "converter/calibrate/row_sample.hpp"
#include "converter/quantize/layer/column_groups.hpp"
#include "converter/quantize/layer/quantize_relative_positions.hpp"
#include "converter/quantize/two_planes.hpp"
#include "converter/reference/float_model.hpp"
#include "kernels/arithmetic/fixed_point.hpp"
#include "tests/converter/quantize/random_bert.hpp"

namespace embert::test {
namespace {

using convert::Matrix;
using convert::PositionKind;

double as_real(std::uint32_t float_bits) {
  return static_cast<double>(std::bit_cast<float>(float_bits));
}

TEST(ColumnGroups, TheFirstHasTheChannelsThatReachFurthest) {
  std::vector<double> reach(600, 1.0);
  EXPECT_TRUE(convert::choose_column_groups(reach).empty());  // all reach as far
  for (std::size_t c = 0; c < 128; ++c) reach[(7 * c + 3) % 600] = 1.25 + static_cast<double>(c);
  const std::vector<std::uint8_t> group = convert::choose_column_groups(reach);
  ASSERT_EQ(group.size(), 600u);
  for (std::size_t c = 0; c < 600; ++c) EXPECT_EQ(group[c], reach[c] > 1 ? 0 : 1);
  EXPECT_TRUE(convert::choose_column_groups(std::span(reach).first(511)).empty());
  reach[0] = reach[599] = 2;  // 130 far channels: of equal ones the first
  const std::vector<std::uint8_t> crowded = convert::choose_column_groups(reach);
  EXPECT_EQ(std::ranges::count(crowded, 0), 128);
}

TEST(ColumnGroups, ColumnsComeInTheOrderOfTheirGroups) {
  const convert::RoundedWeights rounded{
      .outputs = 2, .inputs = 4, .codes = {1, 2, 3, 4, 5, 6, 7, 8}};
  const convert::SplitWeights ordered = convert::order_by_group(rounded, {1, 0, 1, 0});
  EXPECT_EQ(ordered.source, (std::vector<std::size_t>{1, 3, 0, 2}));
  EXPECT_EQ(ordered.codes, (std::vector<std::int8_t>{2, 4, 1, 3, 6, 8, 5, 7}));
}

TEST(QuantizeRelativePositions, TableRunsTheOtherWay) {
  Random random(1);
  const std::size_t positions = 9, head_size = 6;
  const Matrix stored = random_matrix(random, 2 * positions - 1, head_size, 0.7F);
  const convert::RelativePositionTable table =
      convert::quantize_relative_positions(stored, PositionKind::kRelativeKey);
  ASSERT_EQ(table.record.columns, 32u);
  ASSERT_EQ(table.record.table.size(), 32u * head_size);
  for (std::size_t query = 0; query < positions; ++query) {
    for (std::size_t key = 0; key < positions; ++key) {
      const std::size_t column = positions - 1 + key - query, row = positions - 1 + query - key;
      for (std::size_t d = 0; d < head_size; ++d) {
        EXPECT_NEAR(table.record.table[column * head_size + d] * table.scale,
                    static_cast<double>(stored.row(row)[d]), table.scale * 0.501);
      }
    }
  }
  for (std::size_t i = (2 * positions - 1) * head_size; i < table.record.table.size(); ++i) {
    EXPECT_EQ(table.record.table[i], 0);
  }
}

TEST(QuantizeRelativePositions, NoScoreReachesItsBound) {
  Random random(2);
  for (const std::size_t head_size : {4u, 64u, 128u}) {
    for (const float scale : {0.0F, 1e-3F, 1.0F, 1e3F}) {
      const Matrix stored = random_matrix(random, 31, head_size, scale);
      const auto kind = PositionKind::kRelativeKeyQuery;
      convert::RelativePositionTable table = convert::quantize_relative_positions(stored, kind);
      const double floor = std::max(table.least_head_scale, 1e-6);
      const convert::HeadScales scales{.query = {floor, 1.7 * floor}, .key = {1.1 * floor, floor}};
      BlobLayer layer{};
      convert::encode_relative_ratios(table, kind, scales, "t", layer);
      double longest = 0;
      for (std::size_t r = 0; r < table.record.columns; ++r) {
        double squares = 0;
        for (std::size_t d = 0; d < head_size; ++d) {
          const double code = table.record.table[r * head_size + d];
          squares += code * code;
        }
        longest = std::max(longest, std::sqrt(squares));
      }
      const double head = 127 * std::sqrt(static_cast<double>(head_size));
      const auto product = static_cast<std::int32_t>(head * longest);
      for (std::size_t h = 0; h < 2; ++h) {
        const BlobShifts& q = layer.query_relative;
        const BlobShifts& k = layer.key_relative;
        const std::int32_t of_query =
            requantize(product, table.record.query_ratio[h], q.left, q.right);
        const std::int32_t of_key = requantize(product, table.record.key_ratio[h], k.left, k.right);
        EXPECT_LT(head * head + of_query + of_key, kScoreBound) << head_size << " " << scale;
        EXPECT_NEAR(of_query, table.scale / scales.key[h] * product, 1.0 + 1e-6 * of_query);
        EXPECT_NEAR(of_key, table.scale / scales.query[h] * product, 1.0 + 1e-6 * of_key);
      }
    }
  }
}

TEST(TwoPlanes, JoinedSumsFit) {
  EXPECT_EQ(convert::planes_join_shift(1), 0);
  for (const std::size_t inputs : {1u, 384u, 521u, 1024u, 4096u}) {
    const int shift = convert::planes_join_shift(inputs);
    EXPECT_LT(std::ldexp(static_cast<double>(inputs) * 127 * 32512, -shift), 0x1p31);
    EXPECT_LE(shift, 8);
    EXPECT_EQ(convert::planes_quant(inputs, 0.25).scale, std::ldexp(0.25, shift));
  }
}

TEST(RowSelection, AsManyAsAskedAndSpreadOverAll) {
  for (const std::size_t total : {1u, 5u, 100u}) {
    for (const std::size_t most : {1u, 3u, 100u}) {
      const convert::RowSelection even(total, most);
      std::size_t kept = 0;
      for (std::size_t row = 0; row < total; ++row) {
        EXPECT_EQ(even.kept_before(row), kept);
        kept += even.keeps(row) ? 1u : 0u;
      }
      EXPECT_EQ(kept, std::min(total, most));
      EXPECT_EQ(kept, even.kept());
    }
  }
}

TEST(CalibrationRanges, HeadroomMovesBothEnds) {
  convert::CalibrationRanges ranges;
  ranges.stacks.resize(2);
  ranges.stacks[1].layers.resize(1);
  convert::LayerRanges& layer = ranges.stacks[1].layers[0];
  for (convert::ChannelRange* range : {&layer.input, &layer.cross_input, &layer.ffn_input}) {
    *range = {{-2, 3}, {6, 3}, {0, 3}};
  }
  convert::add_headroom(ranges, 0.25);
  for (const convert::ChannelRange* range : {&layer.input, &layer.cross_input, &layer.ffn_input}) {
    EXPECT_EQ(range->lowest, (std::vector<float>{-4, 3}));
    EXPECT_EQ(range->highest, (std::vector<float>{8, 3}));
  }
}

TEST(CalibrationRanges, HeadroomStaysFinite) {
  convert::CalibrationRanges ranges;
  ranges.stacks.resize(1);
  ranges.stacks[0].layers.resize(1);
  convert::ChannelRange& input = ranges.stacks[0].layers[0].input;
  for (const double headroom : {0.0, 0.025}) {
    input = {{-3e38F}, {3e38F}, {0}};
    convert::add_headroom(ranges, headroom);
    EXPECT_TRUE(std::isfinite(input.lowest[0]) && input.lowest[0] <= -3e38F);
    EXPECT_TRUE(std::isfinite(input.highest[0]) && input.highest[0] >= 3e38F);
  }
}

TEST(QuantizedStack, HeadroomIsThere) {
  const RandomBert bert = random_encoder(30);
  const auto hidden_scale = [&](double headroom) {
    convert::QuantizeOptions options;
    options.headroom = headroom;
    return as_real(quantize(bert, 1, options).model.stacks[0].layers[1].record.hidden_scale);
  };
  EXPECT_NEAR(hidden_scale(0.5), 2 * hidden_scale(0), 0.3 * hidden_scale(0));
}

TEST(QuantizedStack, PreNormCarriesTheSumAsItIs) {
  convert::ModelConfig config;
  config.stacks = {small_stack()};
  config.stacks[0].norm_position = convert::NormPosition::kPre;
  config.stacks[0].embedding_layer_norm = false;
  config.stacks[0].final_layer_norm = true;
  const convert::QuantizedStack stack = quantize(RandomBert(config, 31)).model.stacks[0];
  EXPECT_EQ(stack.record.flags, kStackPreNorm);
  EXPECT_EQ(stack.layers[0].record.hidden_scale, stack.record.embedding_scale);
  for (std::size_t l = 0; l < stack.layers.size(); ++l) {
    const convert::QuantizedLayer& layer = stack.layers[l];
    EXPECT_TRUE(layer.hidden_multiplier.empty());
    const double before = as_real(layer.record.hidden_scale);
    const double after =
        as_real(l + 1 < stack.layers.size() ? stack.layers[l + 1].record.hidden_scale
                                            : stack.record.sum_scale);
    double carried = 1;  // scale of the sum before the layer / scale of the sum after it
    for (const convert::QuantizedDense* dense : {&layer.self.out, &layer.ffn_down}) {
      for (std::size_t n = 0; n < 32; ++n) EXPECT_EQ(dense->residual[n], dense->residual[0]);
      carried *= std::ldexp(dense->residual[0], -20);
    }
    EXPECT_NEAR(carried, before / after, 1e-4 * carried);
  }
}

TEST(QuantizedStack, WithoutLayerNormAfterTheEmbeddings) {
  convert::ModelConfig config;
  config.stacks = {small_stack()};
  config.stacks[0].embedding_layer_norm = false;
  const convert::QuantizedStack stack = quantize(RandomBert(config, 32)).model.stacks[0];
  EXPECT_EQ(stack.input_norms[0].record.shift, 0);
  EXPECT_TRUE(stack.input_norms[0].gain.empty());
  EXPECT_TRUE(stack.layers[0].hidden_multiplier.empty());
  EXPECT_EQ(stack.layers[0].record.hidden_scale, stack.record.embedding_scale);
  EXPECT_EQ(stack.layers[1].hidden_multiplier.size(), 32u);
}

TEST(QuantizedStack, RelativePositionsLeaveTheSegmentInTheTable) {
  convert::ModelConfig config;
  config.stacks = {small_stack()};
  config.stacks[0].position_kind = PositionKind::kRelativeKeyQuery;
  const RandomBert family(config, 33);
  const convert::QuantizedStack stack = quantize(family).model.stacks[0];
  const double scale = as_real(stack.record.embedding_scale);
  ASSERT_EQ(stack.positions.size(), 24u * 32);
  for (std::size_t i = 0; i < stack.positions.size(); ++i) {
    const auto segment =
        static_cast<double>(family.weights.stacks[0].token_type_embeddings.row(0)[i % 32]);
    EXPECT_NEAR(stack.positions[i] * scale, segment, scale * 0.501);
  }
  for (const convert::QuantizedLayer& layer : stack.layers) {
    EXPECT_EQ(layer.relative_positions->query_ratio.size(), 2u);
    EXPECT_EQ(layer.relative_positions->key_ratio.size(), 2u);
  }
}

TEST(QuantizedModel, ScalesMeetBetweenTwoStacks) {
  convert::ModelConfig config;
  config.stacks = {small_stack(), small_stack()};
  config.stacks[1].is_decoder = config.stacks[1].cross_attention = true;
  config.eos_token_id = 4;
  for (const int width : {32, 20}) {
    config.stacks[1].cross_hidden_size = width;
    const convert::QuantizeResult result = quantize(RandomBert(config, 34));
    const BlobStack& encoder = result.model.stacks[0].record;
    const BlobStack& decoder = result.model.stacks[1].record;
    EXPECT_EQ(decoder.flags, kStackCausal | kStackCrossAttention);
    EXPECT_EQ(decoder.cross_hidden_size, static_cast<std::uint32_t>(width));
    EXPECT_EQ(encoder.cross_scale, 0u);
    EXPECT_EQ(result.model.projection.has_value(), width != 32);
    if (width == 32) {
      EXPECT_EQ(decoder.cross_scale, encoder.hidden_scale);
    }
    EXPECT_EQ(result.model.start_id, UINT32_MAX);
    EXPECT_EQ(result.model.end_id, 4u);
    EXPECT_EQ(result.layers.size(), 6u);
    EXPECT_EQ(result.layers[2].cross_key_value, 0);
    EXPECT_GT(result.layers[3].cross_key_value, 0);
  }
}

TEST(QuantizedModel, VocabularyLogitsHaveTheBitsTheyNeed) {
  convert::ModelConfig config;
  config.stacks = {small_stack()};
  config.language_head = convert::LanguageHeadKind::kBert;
  for (const bool tied : {false, true}) {
    config.tied_output = tied;
    for (const float scale : {1e-3F, 1.0F, 100.0F}) {
      RandomBert family(config, 35);
      convert::LanguageHead& head = *family.weights.language_head;
      for (float& value : head.norm.gamma) value *= scale;
      for (float& value : head.norm.beta) value *= scale;
      for (float& value : head.bias) value *= scale;
      const convert::QuantizedLm lm = *quantize(family).model.lm;
      EXPECT_EQ(lm.rows.empty(), tied);
      EXPECT_EQ(lm.multipliers.empty(), tied);
      EXPECT_GE(lm.shift, 0);
      EXPECT_LE(lm.shift, 40);
      convert::FloatModel floats(family.config, family.weights, 1);
      convert::ForwardOptions options;
      options.lm_rows = {0, 1, 2};
      float most = 0;
      for (const float logit : floats.forward({{7, 8, 9}, {}, {3}}, nullptr, options).lm_logits) {
        most = std::max(most, std::fabs(logit));
      }
      const float units = most / lm.logits_scale;
      EXPECT_GT(units, 0x1p20F) << tied << " " << scale;
      EXPECT_LT(units, 0x1p25F) << tied << " " << scale;
    }
  }
}

}  // namespace
}  // namespace embert::test
