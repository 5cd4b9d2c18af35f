// SPDX-License-Identifier: Apache-2.0
// The source of cross-attention: states of the caller, or of the encoder in the same blob.
#include "embert/embert_lm.h"
#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/arithmetic/layout.hpp"
#include "tests/runtime/generation/decoder_models.hpp"

namespace embert::test {
namespace {

SyntheticModel cross_decoder() { return small_decoder(kStackCrossAttention, kPositionTable); }

/// An encoder whose sizes all differ from the decoder's.
SyntheticModel small_encoder() {
  SyntheticModel model;
  model.hidden_size = 52;
  model.num_layers = 3;
  model.num_heads = 2;
  model.head_size = 26;
  model.intermediate_size = 70;
  model.vocab_size = 44;
  model.max_positions = 40;
  model.position_kind = kPositionRelativeKey;
  model.heads = 0;
  return model;
}

SyntheticModel pair(std::uint32_t cross_hidden_size) {
  SyntheticModel model = cross_decoder();
  model.cross_hidden_size = cross_hidden_size;
  model.encoder = {small_encoder()};
  if (cross_hidden_size != model.encoder[0].hidden_size) model.heads |= kHeadProjection;
  return model;
}

std::vector<std::int16_t> encode_source(const GuardedEngine& engine, const Call& call,
                                        std::size_t width) {
  const CallInput input(call);
  const std::int16_t* hidden = nullptr;
  embert_output output = {.size = sizeof(output)};
  output.hidden = &hidden;
  EXPECT_EQ(embert_encode_source(engine, input.get(), &output), EMBERT_STATUS_OK);
  return {hidden, hidden + input.tokens() * width};
}

Call target_texts(std::initializer_list<std::size_t> lengths) {
  Call call;
  call.ids = random_ids(lengths, cross_decoder().vocab_size, 21);
  return call;
}

TEST(Source, AScaleIsBroughtToTheModels) {
  const AlignedBytes blob(make_synthetic_blob(cross_decoder()));
  Source source({9, 4}, 20), halved({9, 4}, 20), eight({9, 4}, 20);
  for (std::int16_t& state : source.states) state = static_cast<std::int16_t>(state / 8 * 8);
  for (std::size_t i = 0; i < source.states.size(); ++i) {
    eight.states[i] = static_cast<std::int16_t>(source.states[i] / 8);
    halved.states[i] = static_cast<std::int16_t>(source.states[i] / 2);
  }
  halved.scale.float_bits += 1u << 23;
  eight.scale.float_bits += 3u << 23;
  for (const Way way : all_ways()) {
    const GuardedEngine engine(blob, way, 2);
    source.set(engine);
    const Answer expected = run(engine, target_texts({7, 5}));
    halved.set(engine);
    EXPECT_EQ(run(engine, target_texts({7, 5})).hidden, expected.hidden);
    eight.set(engine);
    EXPECT_EQ(run(engine, target_texts({7, 5})).hidden, expected.hidden);
    eight.scale.float_bits += 1u << 23;  // makes a difference
    eight.set(engine);
    EXPECT_NE(run(engine, target_texts({7, 5})).hidden, expected.hidden);
    eight.scale.float_bits -= 1u << 23;
  }
}

TEST(Source, OneServesAllTexts) {
  const AlignedBytes blob(make_synthetic_blob(cross_decoder()));
  const Source one({11}, 20);
  Source three({11, 11, 11}, 20);
  three.states = joined<std::int16_t>({one.states, one.states, one.states});
  three.mask = joined<std::uint8_t>({one.mask, one.mask, one.mask});
  for (const Way way : all_ways()) {
    const GuardedEngine engine(blob, way, 3, 0, 11);
    one.set(engine);
    const Answer answer =
        run(engine, target_texts({7, 18, 2}), kWantHidden | kWantCrossAttentions, 11);
    three.set(engine);
    const Answer again =
        run(engine, target_texts({7, 18, 2}), kWantHidden | kWantCrossAttentions, 11);
    EXPECT_EQ(answer.hidden, again.hidden);
    EXPECT_EQ(answer.cross_attentions, again.cross_attentions);
  }
}

TEST(Source, HiddenTokensAreAsIfNotThere) {
  const AlignedBytes blob(make_synthetic_blob(cross_decoder()));
  Source shorter({9, 4}, 20);
  shorter.mask.assign(13, 1);
  Source longer({13, 20}, 20);
  longer.mask.assign(33, 0);
  std::copy_n(shorter.states.begin(), 9 * 20, longer.states.begin());
  std::copy_n(shorter.states.begin() + 9 * 20, 4 * 20, longer.states.begin() + 13 * 20);
  std::fill_n(longer.mask.begin(), 9, std::uint8_t{1});
  std::fill_n(longer.mask.begin() + 13, 4, std::uint8_t{1});
  Source open = longer;
  open.mask.assign(33, 1);
  Call masked = target_texts({7, 5});
  masked.cross_mask.resize(2);
  for (std::size_t row = 0; row < 7; ++row) {
    masked.cross_mask[0].insert(masked.cross_mask[0].end(), longer.mask.begin(),
                                longer.mask.begin() + 13);
  }
  for (std::size_t row = 0; row < 5; ++row) {
    masked.cross_mask[1].insert(masked.cross_mask[1].end(), longer.mask.begin() + 13,
                                longer.mask.end());
  }
  for (const Way way : all_ways()) {
    const GuardedEngine engine(blob, way, 2, 0, 20);
    shorter.set(engine);
    const Answer expected = run(engine, target_texts({7, 5}));
    longer.set(engine);
    EXPECT_EQ(run(engine, target_texts({7, 5})).hidden, expected.hidden);
    open.set(engine);
    EXPECT_NE(run(engine, target_texts({7, 5})).hidden, expected.hidden);
    open.set(engine);
    EXPECT_EQ(run(engine, masked).hidden, expected.hidden);
  }
}

// An arena in which the source's parts are the largest.
TEST(Source, MayBeMuchLongerThanTheText) {
  const AlignedBytes blob(make_synthetic_blob(cross_decoder()));
  const Source source({300}, 20);
  PerText<std::int16_t> expected;
  for (const Way way : all_ways()) {
    const GuardedEngine roomy(blob, way, 3, 0, 300), tight(blob, way, 1, 33, 300);
    source.set(roomy);
    source.set(tight);
    if (expected.empty()) expected = run(roomy, target_texts({33})).hidden;
    EXPECT_EQ(run(tight, target_texts({33})).hidden, expected);
  }
}

TEST(Source, SetsEmptyTheCache) {
  const AlignedBytes blob(make_synthetic_blob(cross_decoder()));
  const GuardedEngine engine(blob, all_ways()[0], 2);
  const Source source({9}, 20);
  source.set(engine);
  run(engine, target_texts({7, 5}));
  EXPECT_EQ(embert_cache_length(engine, 1), 5u);
  source.set(engine);
  EXPECT_EQ(embert_cache_length(engine, 0), 0u);
  EXPECT_EQ(embert_cache_length(engine, 1), 0u);
}

TEST(Source, OfTheEncoderIsItsHiddenState) {
  const SyntheticModel model = pair(small_encoder().hidden_size);
  const AlignedBytes blob(make_synthetic_blob(model));
  const AlignedBytes alone(make_synthetic_blob(small_encoder()));  // of the same seed
  Call call;
  call.ids = random_ids({13, 40, 1}, small_encoder().vocab_size, 22);
  call.key_mask = {std::vector<std::uint8_t>(13, 1), std::vector<std::uint8_t>(40, 1), {1}};
  call.key_mask[0][4] = 0;
  PerText<std::int16_t> expected;
  for (const Way way : all_ways()) {
    const GuardedEngine engine(blob, way, 3);
    const std::vector<std::int16_t> hidden = encode_source(engine, call, 52);
    EXPECT_EQ(hidden, joined(run(GuardedEngine(alone, way, 3), call).hidden));
    const PerText<std::int16_t> answer = run(engine, target_texts({7, 17, 3})).hidden;
    if (expected.empty()) expected = answer;
    EXPECT_EQ(answer, expected);

    Source source({13, 40, 1}, 52);
    source.states = hidden;
    source.mask = joined(call.key_mask);
    source.set(engine);
    EXPECT_EQ(run(engine, target_texts({7, 17, 3})).hidden, expected);
  }
}

/// Rows through the projection of a blob, in the functions of the reference arithmetic.
std::vector<std::int16_t> project(const AlignedBytes& blob, const std::vector<std::int16_t>& rows,
                                  std::size_t k, std::size_t n) {
  const auto& header = *reinterpret_cast<const BlobHeader*>(blob.data());
  const auto* section = reinterpret_cast<const BlobSection*>(blob.data() + sizeof(BlobHeader));
  while (section->kind != kSectionProjection) ++section;
  const auto* weights = reinterpret_cast<const std::int8_t*>(blob.data() + section->offset);
  const std::size_t inputs = pad_inputs(k), columns = pad_columns(n);
  const auto* bias = reinterpret_cast<const std::int32_t*>(weights + columns * inputs);
  const std::int32_t* multipliers = bias + 2 * columns;
  std::vector<std::int16_t> projected;
  for (std::size_t row = 0; row < rows.size() / k; ++row) {
    for (std::size_t c = 0; c < n; ++c) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < k; ++i) {
        const std::int32_t v = clamp<std::int32_t>(rows[row * k + i], -kValueBound, kValueBound);
        sum += (256 * plane_high(v) + plane_low(v)) * weights[n16k4_index(c, i, inputs)];
      }
      const std::int32_t joined_sum =
          sat32(shift_round(sum, header.projection.join_shift) + bias[c]);
      projected.push_back(static_cast<std::int16_t>(
          sat16(requantize(joined_sum, multipliers[c], header.projection.shifts.left,
                           header.projection.shifts.right))));
    }
  }
  return projected;
}

TEST(Source, OfTheEncoderIsProjected) {
  for (std::uint32_t width : {24u, 70u, 300u}) {
    const AlignedBytes blob(make_synthetic_blob(pair(width)));
    Call call;
    call.ids = random_ids({33}, small_encoder().vocab_size, 23);
    for (const Way way : all_ways()) {
      const GuardedEngine engine(blob, way, 1, 17, 33);
      const std::vector<std::int16_t> hidden = encode_source(engine, call, 52);
      const PerText<std::int16_t> answer = run(engine, target_texts({17})).hidden;
      Source source({33}, width);
      source.states = project(blob, hidden, 52, width);
      source.mask.assign(33, 1);
      source.set(engine);
      EXPECT_EQ(run(engine, target_texts({17})).hidden, answer) << width;
      EXPECT_GT(*std::max_element(source.states.begin(), source.states.end()), 1000);
    }
  }
}

TEST(Source, EncoderShowsItsStatesAndAttentions) {
  const AlignedBytes blob(make_synthetic_blob(pair(52)));
  const AlignedBytes alone(make_synthetic_blob(small_encoder()));
  Call call;
  call.ids = random_ids({13, 21}, small_encoder().vocab_size, 24);
  const GuardedEngine engine(blob, all_ways()[0], 2), encoder(alone, all_ways()[0], 2);
  const Answer expected = run(encoder, call, kWantHidden | kWantStates | kWantAttentions);
  const CallInput input(call);
  std::vector<std::int16_t> states(expected.hidden_states.size());
  std::vector<std::uint16_t> attentions(expected.attentions.size());
  std::vector<embert_scale> scales(expected.hidden_state_scales.size());
  embert_output output = {.size = sizeof(output)};
  output.hidden_states = states.data();
  output.hidden_state_scales = scales.data();
  output.attentions = attentions.data();
  ASSERT_EQ(embert_encode_source(engine, input.get(), &output), EMBERT_STATUS_OK);
  EXPECT_EQ(states, expected.hidden_states);
  EXPECT_EQ(attentions, expected.attentions);
  ASSERT_EQ(embert_encode_source(engine, input.get(), nullptr), EMBERT_STATUS_OK);
}

}  // namespace
}  // namespace embert::test
