// SPDX-License-Identifier: Apache-2.0
// Rotary positions and local attention: each is compared with an equivalent call.
#include <cmath>

#include "tests/runtime/engine/guarded_engine.hpp"

namespace embert::test {
namespace {

// Every layer but the first sees the keys at a distance of at most 5.
SyntheticModel modern(std::uint32_t flags, std::uint32_t num_layers = 3) {
  SyntheticModel model;
  model.hidden_size = 36;
  model.num_layers = num_layers;
  model.num_heads = 3;
  model.head_size = 10;
  model.intermediate_size = 50;
  model.vocab_size = 60;
  model.max_positions = 160;
  model.flags = flags;
  model.local_attention = {num_layers, 5};
  return model;
}

constexpr std::uint32_t kAll =
    kStackPreNorm | kStackEmbeddingNorm | kStackRotary | kStackLocalAttention | kStackGatedFfn;

Call texts(const SyntheticModel& shape, std::initializer_list<std::size_t> lengths) {
  Call call;
  call.ids = random_ids(lengths, shape.vocab_size, 31);
  return call;
}

Answer answer(const AlignedBytes& blob, Way way, const Call& call) {
  return run(GuardedEngine(blob, way, 4), call, kWantHidden | kWantAttentions);
}

// Of the first text's hidden states.
double cosine(const Answer& a, const Answer& b) {
  double product = 0, of_a = 0, of_b = 0;
  for (std::size_t i = 0; i < a.hidden[0].size(); ++i) {
    const double x = a.hidden[0][i], y = b.hidden[0][i];
    product += x * y, of_a += x * x, of_b += y * y;
  }
  return product / std::sqrt(of_a * of_b);
}

// A pair mask hides the same keys in all layers, so one layer is local by itself or by the mask.
TEST(LocalAttention, IsAPairMaskOfABand) {
  SyntheticModel local = modern(kStackRotary | kStackLocalAttention, 2), global = local;
  local.local_attention = {2, 5};
  global.local_attention = {1, 0};
  const AlignedBytes local_blob(make_synthetic_blob(local)), blob(make_synthetic_blob(global));
  const Call plain = texts(local, {100, 7, 41});
  Call band = plain;
  for (const auto& text : plain.ids) {
    band.pair_mask.emplace_back();
    for (std::size_t i = 0; i < text.size(); ++i) {
      for (std::size_t j = 0; j < text.size(); ++j) {
        band.pair_mask.back().push_back((i > j ? i - j : j - i) <= 5);
      }
    }
  }
  for (const Way way : all_ways()) {
    // The mask changes layer 0, too: only there it is not local. So mask both models.
    const Answer masked = answer(blob, way, band), both = answer(local_blob, way, band);
    EXPECT_EQ(masked.hidden, both.hidden);
    EXPECT_EQ(masked.attentions, both.attentions);
    const Answer of_local = answer(local_blob, way, plain), of_global = answer(blob, way, plain);
    EXPECT_NE(of_local.hidden, of_global.hidden);
    // The probabilities of layer 1: none beyond the band.
    const std::size_t pairs = 100 * 100 + 7 * 7 + 41 * 41;
    ASSERT_EQ(of_local.attentions.size(), 2 * 3 * pairs);
    const std::uint16_t* first = of_local.attentions.data() + 3 * pairs;
    std::size_t seen = 0;
    for (std::size_t i = 0; i < 100; ++i) {
      for (std::size_t j = 0; j < 100; ++j) {
        if ((i > j ? i - j : j - i) > 5) {
          EXPECT_EQ(first[i * 100 + j], 0);
        } else {
          seen += first[i * 100 + j] != 0;
        }
      }
    }
    EXPECT_GT(seen, 200u);
  }
}

// Without other masks and outputs a block of queries reads the keys of its band alone; a mask of
// ones and the probabilities make it read all keys.
TEST(LocalAttention, ReadsFewerKeysForTheSameBits) {
  for (const std::uint32_t reach : {0u, 1u, 5u, 15u, 16u, 17u, 31u, 64u, 511u}) {
    SyntheticModel shape = modern(kAll);
    shape.local_attention.reach = reach;
    shape.rotary_tables = 2;
    const AlignedBytes blob(make_synthetic_blob(shape));
    const Call plain = texts(shape, {160, 97, 33, 1});
    Call open = plain;
    for (const auto& text : plain.ids) open.key_mask.emplace_back(text.size(), 1);
    for (const Way way : all_ways()) {
      const auto expected = run(GuardedEngine(blob, way, 4), open, kWantHidden).hidden;
      EXPECT_EQ(run(GuardedEngine(blob, way, 4), plain, kWantHidden).hidden, expected) << reach;
      EXPECT_EQ(answer(blob, way, plain).hidden, expected) << reach;
    }
  }
}

// Rotary scores depend on differences of positions; only rounding tells equal ones apart.
TEST(Rotary, PositionsOfTheCallerAreThoseOfTheText) {
  const SyntheticModel shape = modern(kAll);
  const AlignedBytes blob(make_synthetic_blob(shape));
  const Call plain = texts(shape, {50, 7});
  Call counted = plain, moved = plain, same_place = plain;
  for (const auto& text : plain.ids) {
    const std::size_t n = text.size();
    counted.positions.emplace_back(n);
    std::iota(counted.positions.back().begin(), counted.positions.back().end(), 0);
    moved.positions.emplace_back(n);
    std::iota(moved.positions.back().begin(), moved.positions.back().end(), 100);
    same_place.positions.emplace_back(n, 3);
  }
  for (const Way way : all_ways()) {
    const Answer a = answer(blob, way, plain), b = answer(blob, way, counted);
    EXPECT_EQ(a.hidden, b.hidden);
    EXPECT_EQ(a.attentions, b.attentions);
    EXPECT_GT(cosine(a, answer(blob, way, moved)), 0.98);
    EXPECT_LT(cosine(a, answer(blob, way, same_place)), 0.9);
  }
}

// The pooled vector alone needs one query a text in the last layer, which may be the only one and
// then adds to its input.
TEST(LocalAttention, FirstRowsAloneAreTheSame) {
  for (const std::uint32_t layers : {1u, 2u, 3u}) {
    const SyntheticModel shape = modern(kAll, layers);
    const AlignedBytes blob(make_synthetic_blob(shape));
    const Call call = texts(shape, {100, 1, 33});
    for (const Way way : all_ways()) {
      const auto pooled = run(GuardedEngine(blob, way, 4), call, kWantPooled).pooled;
      EXPECT_EQ(pooled, run(GuardedEngine(blob, way, 4), call, kWantPooled | kWantHidden).pooled);
    }
  }
}

}  // namespace
}  // namespace embert::test
