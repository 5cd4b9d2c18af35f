// SPDX-License-Identifier: Apache-2.0
// The outputs of embert_run beside the last hidden state. Asking for one changes no other.
#include <cmath>
#include <cstring>

#include "embert/embert_lm.h"
#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/arithmetic/layout.hpp"
#include "tests/runtime/generation/decoder_models.hpp"

namespace embert::test {
namespace {

constexpr std::uint32_t kAllHeads = kHeadPooler | kHeadClassifier | kHeadTokenClassifier | kHeadLm;

SyntheticModel encoder(std::uint32_t flags, std::uint32_t position_kind, bool embedding_norm) {
  SyntheticModel model = small_decoder(0, position_kind);
  model.flags = flags;
  model.embedding_norm = embedding_norm;
  return model;
}

std::vector<NamedModel> models() {
  std::vector<NamedModel> all = decoders();
  all.push_back({"encoder_post_norm", encoder(0, kPositionTable, true)});
  all.push_back({"encoder_without_embedding_norm", encoder(0, kPositionTable, false)});
  all.push_back({"encoder_pre_norm", encoder(kStackPreNorm, kPositionRelativeKey, true)});
  for (NamedModel& model : all) model.shape.heads = kAllHeads;
  return all;
}

class Outputs : public testing::TestWithParam<NamedModel> {
 protected:
  const SyntheticModel& shape() const { return GetParam().shape; }
  bool causal() const { return (shape().flags & kStackCausal) != 0; }
  bool pre_norm() const { return (shape().flags & kStackPreNorm) != 0; }

  /// The call on a new engine.
  Answer answer(const AlignedBytes& blob, Way way, const Call& call, std::uint32_t wanted) const {
    const GuardedEngine engine(blob, way, 3);
    if (GetParam().has_source()) source_.set(engine);
    return run(engine, call, wanted, 9);
  }
  const BlobStack& stack() const {
    return reinterpret_cast<const BlobHeader*>(blob_.data())->stacks[0];
  }
  template <typename T>
  T* section(std::uint32_t kind, std::uint32_t layer = 0) {
    auto* s = reinterpret_cast<BlobSection*>(blob_.data() + sizeof(BlobHeader));
    while (s->kind != kind || s->layer != layer) ++s;
    return reinterpret_cast<T*>(blob_.data() + s->offset);
  }
  /// LayerNorm of a row with the gain and bias of a section.
  std::vector<std::int16_t> norm(const std::vector<std::int16_t>& row, std::uint32_t kind,
                                 const BlobNorm& record) {
    std::int64_t s1 = 0, s2 = 0;
    for (std::int16_t v : row) {
      s1 += v;
      s2 += v * v;
    }
    const auto n = static_cast<std::int32_t>(row.size());
    const LayerNormRow of_row = layernorm_row(s1, s2, record.epsilon_n2, n);
    const std::int32_t* gain = section<std::int32_t>(kind);
    std::vector<std::int16_t> normal;
    for (std::size_t c = 0; c < row.size(); ++c) {
      normal.push_back(static_cast<std::int16_t>(
          layernorm_value(row[c], n, of_row,
                          {.gain = gain[c], .bias = gain[c + row.size()], .shift = record.shift})));
    }
    return normal;
  }

  AlignedBytes blob_ = AlignedBytes(make_synthetic_blob(GetParam().shape));
  Source source_ = Source({9, 9, 9}, GetParam().shape.cross_hidden_size);
  Call call_ = [this] {
    Call call;
    call.ids = random_ids({21, 5, 33}, shape().vocab_size, 41);
    call.type_ids = random_ids({21, 5, 33}, shape().type_vocab_size, 42);
    return call;
  }();
};

TEST_P(Outputs, TogetherAreEachAlone) {
  Answer expected;
  std::uint32_t all =
      kWantHidden | kWantStates | kWantAttentions | kWantPooled | kWantLogits | kWantTokenLogits;
  if (GetParam().has_source()) all |= kWantCrossAttentions;
  for (const Way way : all_ways()) {
    const auto ask = [&](std::uint32_t wanted) { return answer(blob_, way, call_, wanted); };
    const Answer together = ask(all);
    if (expected.hidden.empty()) expected = together;
    EXPECT_EQ(together.hidden, expected.hidden);
    EXPECT_EQ(ask(kWantHidden).hidden, expected.hidden);
    EXPECT_EQ(ask(kWantStates).hidden_states, expected.hidden_states);
    EXPECT_EQ(ask(kWantAttentions).attentions, expected.attentions);
    EXPECT_EQ(ask(kWantTokenLogits).token_logits, expected.token_logits);
    // These two compute the last layer for first tokens only.
    EXPECT_EQ(ask(kWantPooled).pooled, expected.pooled);
    EXPECT_EQ(ask(kWantLogits).logits, expected.logits);
    EXPECT_EQ(ask(kWantLogits | kWantHidden).logits, expected.logits);
    if (GetParam().has_source()) {
      EXPECT_EQ(ask(kWantCrossAttentions).cross_attentions, expected.cross_attentions);
    }
  }
  const auto alive = [](const auto& values) {
    return std::any_of(values.begin(), values.end(), [](auto v) { return v > 500; });
  };
  EXPECT_TRUE(alive(expected.hidden[0]) && alive(expected.hidden_states));
  EXPECT_TRUE(alive(expected.attentions) && alive(expected.pooled));
  EXPECT_TRUE(alive(expected.logits) && alive(expected.token_logits));
}

TEST_P(Outputs, FirstRowsUnderMasksAreThoseOfAllRows) {
  std::mt19937_64 random(43);
  Call masked = call_;
  for (const auto& text : call_.ids) {
    masked.key_mask.push_back(random_mask(text.size(), random));
    masked.query_mask.push_back(random_mask(text.size(), random));
    masked.pair_mask.push_back(random_mask(text.size() * text.size(), random));
    if (GetParam().has_source()) {
      masked.cross_mask.push_back(random_mask(text.size() * 9, random));
    }
  }
  masked.head_mask = {20000, 32768, 7};
  for (const Way way : all_ways()) {
    EXPECT_EQ(answer(blob_, way, masked, kWantPooled).pooled,
              answer(blob_, way, masked, kWantPooled | kWantHidden).pooled);
    EXPECT_NE(answer(blob_, way, masked, kWantPooled).pooled,
              answer(blob_, way, call_, kWantPooled).pooled);
  }
}

// After a call that asked for the first token alone, a decoder continues as if all had been
// computed.
TEST_P(Outputs, FirstRowsLeaveAWholeCache) {
  if (!causal()) return;
  for (const Way way : all_ways()) {
    const GuardedEngine pruned(blob_, way, 3), whole(blob_, way, 3);
    for (embert_engine* engine :
         {static_cast<embert_engine*>(pruned), static_cast<embert_engine*>(whole)}) {
      if (GetParam().has_source()) source_.set(engine);
    }
    run(pruned, call_, kWantLogits);
    run(whole, call_, kWantHidden);
    Call more;
    more.ids = random_ids({3, 8, 1}, shape().vocab_size, 44);
    EXPECT_EQ(run(pruned, more).hidden, run(whole, more).hidden);
  }
}

TEST_P(Outputs, ProbabilitiesOfARowAreOne) {
  const std::size_t heads = shape().num_heads, layers = shape().num_layers;
  const std::uint32_t cross = GetParam().has_source() ? kWantCrossAttentions : Wanted{};
  const Answer a = answer(blob_, all_ways().back(), call_, kWantAttentions | cross);
  const auto check = [&](const std::vector<std::uint16_t>& p, bool self) {
    const std::uint16_t* row = p.data();
    for (std::size_t l = 0; l < layers; ++l) {
      for (const auto& text : call_.ids) {
        const std::size_t keys = self ? text.size() : 9;
        for (std::size_t h = 0; h < heads; ++h) {
          const bool there = l + 1 < layers || h < heads - shape().pruned_heads;
          for (std::size_t q = 0; q < text.size(); ++q, row += keys) {
            const int sum = std::accumulate(row, row + keys, 0);
            ASSERT_NEAR(sum, there ? 32768 : 0, there ? static_cast<double>(keys) / 2 + 1 : 0.0)
                << "layer " << l << ", head " << h << ", query " << q;
            const std::size_t reach = self && causal() ? q + 1 : keys;
            ASSERT_TRUE(std::all_of(row + reach, row + keys, [](int v) { return v == 0; }));
          }
        }
      }
    }
    EXPECT_EQ(row, p.data() + p.size());
  };
  check(a.attentions, true);
  if (GetParam().has_source()) check(a.cross_attentions, false);
}

TEST_P(Outputs, FirstHiddenStateIsTheEmbeddings) {
  const std::size_t size = shape().hidden_size;
  const Answer a = answer(blob_, all_ways().back(), call_, kWantStates);
  const auto* words = section<std::int8_t>(kSectionWordEmbeddings);
  const auto* multipliers = section<std::int32_t>(kSectionWordMultipliers);
  const auto* positions = section<std::int16_t>(kSectionPositions);
  const auto* segments = section<std::int16_t>(kSectionSegments);
  const BlobLayer& first = *section<BlobLayer>(kSectionLayers);
  const std::int16_t* state = a.hidden_states.data();
  for (std::size_t text = 0; text < call_.ids.size(); ++text) {
    for (std::size_t i = 0; i < call_.ids[text].size(); ++i, state += size) {
      const auto id = static_cast<std::size_t>(call_.ids[text][i]),
                 type = static_cast<std::size_t>(call_.type_ids[text][i]);
      std::vector<std::int16_t> row;
      for (std::size_t c = 0; c < size; ++c) {
        row.push_back(static_cast<std::int16_t>(
            embedding_value(words[id * size + c], multipliers[id], positions[i * size + c],
                            segments[type * size + c])));
      }
      if (!pre_norm() && first.input_norm.shift != 0) {
        row = norm(row, kSectionInputNorm, first.input_norm);
        const std::int32_t* factors = section<std::int32_t>(kSectionHiddenRescale);
        for (std::size_t c = 0; c < size; ++c) {
          row[c] = static_cast<std::int16_t>(hidden_value(row[c], factors[c], factors[size + c]));
        }
      }
      ASSERT_EQ(row, std::vector<std::int16_t>(state, state + size)) << text << " " << i;
    }
  }
}

TEST_P(Outputs, LastHiddenStateIsTheLastOfAll) {
  const std::size_t size = shape().hidden_size;
  const Answer a = answer(blob_, all_ways().back(), call_, kWantStates | kWantHidden);
  const std::vector<std::int16_t> hidden = joined(a.hidden);
  const auto last = a.hidden_states.end() - static_cast<std::ptrdiff_t>(hidden.size());
  const std::vector<std::int16_t> state(last, a.hidden_states.end());
  if (!pre_norm()) {
    EXPECT_EQ(state, hidden);
    return;
  }
  for (std::size_t row = 0; row < hidden.size(); row += size) {
    const auto begin = state.begin() + static_cast<std::ptrdiff_t>(row);
    ASSERT_EQ(norm({begin, begin + static_cast<std::ptrdiff_t>(size)}, kSectionFinalNorm,
                   stack().final_norm),
              std::vector<std::int16_t>(hidden.begin() + static_cast<std::ptrdiff_t>(row),
                                        hidden.begin() + static_cast<std::ptrdiff_t>(row + size)));
  }
}

TEST_P(Outputs, HaveTheScalesOfTheBlob) {
  const auto scale = [](std::uint32_t exponent) { return exponent << 23; };
  auto& header = *reinterpret_cast<BlobHeader*>(blob_.data());
  BlobLayer* layers = section<BlobLayer>(kSectionLayers);
  layers[0].hidden_scale = scale(100);
  layers[1].hidden_scale = scale(101);
  header.stacks[0].hidden_scale = scale(102);
  header.stacks[0].sum_scale = scale(103);
  header.pooled_scale = scale(104);
  header.logits_scale = scale(105);
  header.token_logits_scale = scale(106);
  seal_blob(blob_.data(), blob_.size());
  const Answer a = answer(blob_, all_ways()[0], call_,
                          kWantHidden | kWantStates | kWantPooled | kWantLogits | kWantTokenLogits);
  EXPECT_EQ(a.hidden_state_scales[0].float_bits, scale(100));
  EXPECT_EQ(a.hidden_state_scales[1].float_bits, scale(101));
  EXPECT_EQ(a.hidden_state_scales[2].float_bits, pre_norm() ? scale(103) : scale(102));
  EXPECT_EQ(a.output.hidden_scale.float_bits, scale(102));
  EXPECT_EQ(a.output.pooled_scale.float_bits, scale(104));
  EXPECT_EQ(a.output.logits_scale.float_bits, scale(105));
  EXPECT_EQ(a.output.token_logits_scale.float_bits, scale(106));
}

TEST_P(Outputs, TokenLogitsAreADenseLayerOnEachToken) {
  const std::size_t size = shape().hidden_size, labels = shape().num_token_labels;
  const auto* header = reinterpret_cast<const BlobHeader*>(blob_.data());
  const auto* weights = section<std::int8_t>(kSectionTokenClassifier);
  const std::size_t columns = pad_columns(labels), inputs = pad_inputs(size);
  const auto* bias = reinterpret_cast<const std::int32_t*>(weights + columns * inputs);
  const Answer a = answer(blob_, all_ways().back(), call_, kWantHidden | kWantTokenLogits);
  const std::vector<std::int16_t> hidden = joined(a.hidden);
  const BlobShifts shifts = header->token_classifier.shifts;
  for (std::size_t row = 0; row < hidden.size() / size; ++row) {
    for (std::size_t c = 0; c < labels; ++c) {
      double sum = bias[c];
      for (std::size_t i = 0; i < size; ++i) {
        sum += hidden[row * size + i] * double{1} * weights[n16k4_index(c, i, inputs)];
      }
      const double expected =
          sum * std::ldexp(bias[2 * columns + c], shifts.left - shifts.right - 31);
      ASSERT_NEAR(a.token_logits[row * labels + c], expected, 40);
    }
  }
  // The same for one text alone.
  Call alone = call_;
  alone.ids = {call_.ids[0]};
  alone.type_ids = {call_.type_ids[0]};
  const std::vector<std::int32_t> of_first =
      answer(blob_, all_ways()[0], alone, kWantTokenLogits).token_logits;
  EXPECT_TRUE(std::equal(of_first.begin(), of_first.end(), a.token_logits.begin()));
}

TEST_P(Outputs, WithoutAnyLeaveTheSameState) {
  const GuardedEngine engine(blob_, all_ways().back(), 3), other(blob_, all_ways().back(), 3);
  if (GetParam().has_source()) {
    source_.set(engine);
    source_.set(other);
  }
  const CallInput input(call_);
  embert_output nothing = {.size = sizeof(nothing)};
  ASSERT_EQ(embert_run(engine, input.get(), &nothing), EMBERT_STATUS_OK);
  const std::int16_t* hidden = nullptr;
  ASSERT_EQ(embert_last_hidden_state(other, input.get(), &hidden, nullptr), EMBERT_STATUS_OK);
  std::vector<std::int32_t> logits(shape().vocab_size), others(shape().vocab_size);
  for (std::uint32_t row : {0u, 21u, 58u}) {
    ASSERT_EQ(embert_lm_logits(engine, row, logits.data(), nullptr), EMBERT_STATUS_OK);
    ASSERT_EQ(embert_lm_logits(other, row, others.data(), nullptr), EMBERT_STATUS_OK);
    EXPECT_EQ(logits, others);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Outputs, testing::ValuesIn(models()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace embert::test
