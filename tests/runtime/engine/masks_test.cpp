// SPDX-License-Identifier: Apache-2.0
// Masks, positions and given embeddings: each is compared with an equivalent call.
#include "kernels/arithmetic/fixed_point.hpp"
#include "tests/runtime/engine/guarded_engine.hpp"

namespace embert::test {
namespace {

SyntheticModel encoder(std::uint32_t position_kind) {
  SyntheticModel model;
  model.hidden_size = 36;
  model.num_heads = 3;
  model.head_size = 10;
  model.intermediate_size = 50;
  model.vocab_size = 60;
  model.max_positions = 48;
  model.position_kind = position_kind;
  return model;
}

class Masks : public testing::TestWithParam<std::uint32_t> {
 protected:
  SyntheticModel shape_ = encoder(GetParam());
  AlignedBytes blob_ = AlignedBytes(make_synthetic_blob(shape_));
  const std::size_t row_ = shape_.hidden_size;

  Call texts(std::initializer_list<std::size_t> lengths) const {
    Call call;
    call.ids = random_ids(lengths, shape_.vocab_size, 31);
    return call;
  }
  Answer answer(Way way, const Call& call) const {
    return run(GuardedEngine(blob_, way, 4), call, kWantHidden | kWantAttentions);
  }
  /// Expects the same hidden states and probabilities of two calls, and different ones of `other`.
  void expect_same(const Call& call, const Call& same, const Call& other) const {
    for (const Way way : all_ways()) {
      const Answer a = answer(way, call), b = answer(way, same), c = answer(way, other);
      EXPECT_EQ(a.hidden, b.hidden);
      EXPECT_EQ(a.attentions, b.attentions);
      EXPECT_NE(a.hidden, c.hidden);
      EXPECT_NE(a.attentions, c.attentions);
    }
  }
};

/// The pair mask in which each of `rows` queries has the mask `row`.
std::vector<std::uint8_t> repeated(const std::vector<std::uint8_t>& row, std::size_t rows) {
  return joined(PerText<std::uint8_t>(rows, row));
}

TEST_P(Masks, HiddenTokensAtTheEndAreAShorterText) {
  const Call longer = texts({33, 7, 20});
  Call masked = longer, shorter = longer;
  const std::size_t lengths[] = {17, 7, 1};
  masked.key_mask.resize(3);
  for (std::size_t i = 0; i < 3; ++i) {
    masked.key_mask[i].assign(longer.ids[i].size(), 0);
    std::fill_n(masked.key_mask[i].begin(), lengths[i], std::uint8_t{1});
    shorter.ids[i].resize(lengths[i]);
  }
  for (const Way way : all_ways()) {
    const GuardedEngine engine(blob_, way, 3);
    const PerText<std::int16_t> of_longer = run(engine, longer).hidden,
                                hidden = run(engine, masked).hidden,
                                expected = run(engine, shorter).hidden;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(std::equal(expected[i].begin(), expected[i].end(), hidden[i].begin())) << i;
    }
    EXPECT_FALSE(std::equal(expected[0].begin(), expected[0].end(), of_longer[0].begin()));
  }
}

TEST_P(Masks, ThatHideNothingAreNone) {
  const Call plain = texts({33, 7, 20});
  Call open = plain, closed = plain;
  for (const auto& text : plain.ids) {
    const std::size_t n = text.size();
    open.key_mask.emplace_back(n, 1);
    open.query_mask.emplace_back(n, 255);
    open.pair_mask.emplace_back(n * n, 7);
    closed.key_mask.emplace_back(n, 1);
    closed.key_mask.back()[n / 2] = 0;
  }
  expect_same(plain, open, closed);
}

TEST_P(Masks, AKeyMaskIsAPairMaskThatRepeatsIt) {
  const Call plain = texts({33, 7, 20});
  Call keys = plain, pairs = plain;
  std::mt19937_64 random(32);
  for (const auto& text : plain.ids) {
    keys.key_mask.push_back(random_mask(text.size(), random));
    pairs.pair_mask.push_back(repeated(keys.key_mask.back(), text.size()));
  }
  expect_same(keys, pairs, plain);
}

TEST_P(Masks, AQueryMaskIsAPairMaskOfEmptyRows) {
  const Call plain = texts({33, 7, 20});
  Call queries = plain, pairs = plain;
  std::mt19937_64 random(33);
  for (const auto& text : plain.ids) {
    queries.query_mask.push_back(random_mask(text.size(), random));
    pairs.pair_mask.emplace_back();
    for (std::uint8_t seen : queries.query_mask.back()) {
      pairs.pair_mask.back().insert(pairs.pair_mask.back().end(), text.size(), seen);
    }
  }
  expect_same(queries, pairs, plain);
}

TEST_P(Masks, TogetherHideWhatAnyOfThemHides) {
  const Call plain = texts({33, 7, 20});
  Call all = plain, pairs = plain;
  std::mt19937_64 random(34);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t n = plain.ids[i].size();
    all.key_mask.push_back(random_mask(n, random));
    all.query_mask.push_back(random_mask(n, random));
    all.pair_mask.push_back(random_mask(n * n, random));
    pairs.pair_mask.push_back(all.pair_mask.back());
    for (std::size_t q = 0; q < n; ++q) {
      for (std::size_t k = 0; k < n; ++k) {
        if (all.query_mask[i][q] == 0 || all.key_mask[i][k] == 0) {
          pairs.pair_mask[i][q * n + k] = 0;
        }
      }
    }
  }
  expect_same(all, pairs, plain);
}

// Independent texts in one: each has its block in the pair mask, and positions that begin at 0.
TEST_P(Masks, BlocksOfPairsAreTexts) {
  const Call apart = texts({9, 14});
  Call packed;
  packed.ids = {joined(apart.ids)};
  packed.pair_mask = {std::vector<std::uint8_t>(23 * 23, 0)};
  packed.positions.resize(1);
  for (std::size_t q = 0; q < 23; ++q) {
    const std::size_t begin = q < 9 ? 0 : 9, end = q < 9 ? 9 : 23;
    packed.positions[0].push_back(static_cast<std::int32_t>(q - begin));
    for (std::size_t k = begin; k < end; ++k) packed.pair_mask[0][q * 23 + k] = 1;
  }
  for (const Way way : all_ways()) {
    EXPECT_EQ(answer(way, packed).hidden[0], joined(answer(way, apart).hidden));
  }
}

TEST_P(Masks, ARowThatSeesNothingAttendsEvenly) {
  Call call = texts({20, 33});
  call.query_mask = {std::vector<std::uint8_t>(20, 1), std::vector<std::uint8_t>(33, 1)};
  call.query_mask[0][4] = call.query_mask[1][32] = 0;
  for (const Way way : all_ways()) {
    const std::vector<std::uint16_t> p = answer(way, call).attentions;
    const std::size_t heads = shape_.num_heads, layer = heads * (20 * 20 + 33 * 33);
    ASSERT_EQ(p.size(), shape_.num_layers * layer);
    for (std::size_t l = 0; l < shape_.num_layers; ++l) {
      for (std::size_t h = 0; h < heads; ++h) {
        const std::uint16_t* first = p.data() + l * layer + h * 20 * 20 + 4 * 20;
        EXPECT_EQ(std::vector<std::uint16_t>(first, first + 20),
                  std::vector<std::uint16_t>(20, 32768 / 20));
        const std::uint16_t* second =
            p.data() + l * layer + heads * 20 * 20 + h * 33 * 33 + 32 * 33;
        EXPECT_EQ(std::vector<std::uint16_t>(second, second + 33),
                  std::vector<std::uint16_t>(33, (32768 + 16) / 33));
      }
    }
  }
}

TEST_P(Masks, HeadFactors) {
  const Call plain = texts({20, 7});
  Call ones = plain, layers = plain, same_layers = plain, mixed = plain;
  ones.head_mask = {32768, 32768, 32768};
  mixed.head_mask = {0, 32768, 16384};
  same_layers.head_mask = {0, 32768, 16384, 0, 32768, 16384};
  same_layers.head_mask_layers = 2;
  layers.head_mask = {32768, 32768, 32768, 0, 65536, 16384};
  layers.head_mask_layers = 2;
  expect_same(plain, ones, mixed);
  expect_same(mixed, same_layers, layers);
  const std::size_t texts_pairs = 20 * 20 + 7 * 7, of_layer = 3 * texts_pairs;
  for (const Way way : all_ways()) {
    const Answer open = answer(way, plain), masked = answer(way, layers);
    // The first layer is unchanged, so the second has the same scores.
    for (std::size_t i = 0; i < 2 * of_layer; ++i) {
      const std::size_t in_layer = i % of_layer;
      const std::size_t head = in_layer < 3 * 400 ? in_layer / 400 : (in_layer - 3 * 400) / 49;
      const int p = open.attentions[i];
      const int of_head[] = {0, std::min(2 * p, 65535), p / 2};
      const int expected = i < of_layer ? p : of_head[head];
      ASSERT_NEAR(masked.attentions[i], expected, i < of_layer || head == 0 ? 0 : 1) << i;
    }
  }
}

TEST_P(Masks, PositionsCountFromZero) {
  const Call plain = texts({33, 7});
  Call counted = plain, others = plain;
  for (const auto& text : plain.ids) {
    counted.positions.emplace_back(text.size());
    std::iota(counted.positions.back().begin(), counted.positions.back().end(), 0);
    others.positions.emplace_back(text.size(), 47);
  }
  if (GetParam() == kPositionTable) {
    expect_same(plain, counted, others);
  } else {  // only relative positions matter
    for (const Way way : all_ways()) {
      EXPECT_EQ(answer(way, plain).hidden, answer(way, counted).hidden);
    }
  }
}

// A token's row times its multiplier, given as the caller's embedding with the embedding sum's
// scale.
TEST_P(Masks, EmbeddingsOfTheWordsAreTheirIds) {
  Call ids = texts({20, 7});
  ids.type_ids = random_ids({20, 7}, 2, 35);
  Call given = ids, louder = ids;
  const auto* table = reinterpret_cast<const BlobSection*>(blob_.data() + sizeof(BlobHeader));
  const auto* header = reinterpret_cast<const BlobHeader*>(blob_.data());
  const auto* words = reinterpret_cast<const std::int8_t*>(blob_.data() + table[1].offset);
  const auto* multipliers = reinterpret_cast<const std::int32_t*>(blob_.data() + table[2].offset);
  for (std::int32_t id : joined(ids.ids)) {
    const auto word = static_cast<std::size_t>(id);
    for (std::size_t c = 0; c < row_; ++c) {
      given.embeddings.push_back(static_cast<std::int16_t>(
          embedding_value(words[word * row_ + c], multipliers[word], 0, 0)));
    }
  }
  given.embeddings_scale.float_bits = header->stacks[0].embedding_scale;
  louder.embeddings = given.embeddings;
  louder.embeddings_scale.float_bits = given.embeddings_scale.float_bits + (1u << 23);
  expect_same(ids, given, louder);
  Call even = given, half = louder;  // half the values with twice the scale
  for (std::size_t i = 0; i < even.embeddings.size(); ++i) {
    half.embeddings[i] = static_cast<std::int16_t>(given.embeddings[i] / 2);
    even.embeddings[i] = static_cast<std::int16_t>(2 * half.embeddings[i]);
  }
  expect_same(even, half, given);
}

const char* name_of(std::uint32_t position_kind) {
  if (position_kind == kPositionTable) return "table";
  return position_kind == kPositionRelativeKey ? "relative_key" : "relative_key_query";
}

INSTANTIATE_TEST_SUITE_P(Positions, Masks,
                         testing::Values(kPositionTable, kPositionRelativeKey,
                                         kPositionRelativeKeyQuery),
                         [](const auto& tested) { return name_of(tested.param); });

}  // namespace
}  // namespace embert::test
