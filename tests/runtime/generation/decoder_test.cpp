// SPDX-License-Identifier: Apache-2.0
// A decoder's KV cache: steps of any size give the bits of the whole pass, whatever happened to the
// cache before them.
#include "tests/runtime/generation/decoder_models.hpp"

#include "embert/embert_lm.h"

namespace embert::test {
namespace {

/// Sizes of the pieces in which each text is run. No text has more pieces than one before it.
using Pieces = PerText<std::size_t>;

Pieces equal_pieces(const std::vector<std::size_t>& lengths, std::size_t size) {
  Pieces pieces;
  for (std::size_t length : lengths) {
    pieces.emplace_back(length / size, size);
    if (length % size != 0) pieces.back().push_back(length % size);
  }
  return pieces;
}

template <typename T>
std::vector<T> part(const std::vector<T>& values, std::size_t from, std::size_t count) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

/// A step with the tokens from[i] .. from[i] + count[i] - 1 of each text.
Call step_of(const Call& whole, const std::vector<std::size_t>& from,
             const std::vector<std::size_t>& count) {
  Call step;
  const auto add = [&](auto& parts, const auto& texts, std::size_t i, std::size_t width) {
    if (!texts.empty()) parts.push_back(part(texts[i], from[i] * width, count[i] * width));
  };
  for (std::size_t i = 0; i < count.size(); ++i) {
    const std::size_t length = whole.ids[i].size();
    add(step.ids, whole.ids, i, 1);
    add(step.type_ids, whole.type_ids, i, 1);
    add(step.key_mask, whole.key_mask, i, 1);
    add(step.query_mask, whole.query_mask, i, 1);
    if (!whole.cross_mask.empty()) {
      add(step.cross_mask, whole.cross_mask, i, whole.cross_mask[i].size() / length);
    }
    if (whole.pair_mask.empty()) continue;
    step.pair_mask.emplace_back();
    for (std::size_t row = from[i]; row < from[i] + count[i]; ++row) {
      const auto keys = part(whole.pair_mask[i], row * length, from[i] + count[i]);
      step.pair_mask.back().insert(step.pair_mask.back().end(), keys.begin(), keys.end());
    }
  }
  return step;
}

/// Hidden states of all texts, run piece by piece behind the first tokens, which are in the cache.
PerText<std::int16_t> run_pieces(const GuardedEngine& engine, const Call& whole,
                                 const Pieces& pieces) {
  PerText<std::int16_t> hidden(pieces.size());
  std::vector<std::size_t> from(pieces.size());
  for (std::size_t step = 0; step < pieces[0].size(); ++step) {
    std::vector<std::size_t> count;
    for (const auto& of_text : pieces) {
      if (step < of_text.size()) count.push_back(of_text[step]);
    }
    const Answer answer = run(engine, step_of(whole, from, count));
    for (std::size_t i = 0; i < count.size(); ++i) {
      hidden[i].insert(hidden[i].end(), answer.hidden[i].begin(), answer.hidden[i].end());
      from[i] += count[i];
    }
  }
  return hidden;
}

class Decoder : public testing::TestWithParam<NamedModel> {
 protected:
  const SyntheticModel& shape() const { return GetParam().shape; }
  void set_source(embert_engine* engine) const {
    if (GetParam().has_source()) source_.set(engine);
  }
  /// Hidden states of one text of the batch on an empty cache.
  std::vector<std::int16_t> fresh(Way way, const std::vector<std::int32_t>& ids,
                                  std::size_t text) const {
    const GuardedEngine engine(blob_, way, 3);
    set_source(engine);
    Call call;
    call.ids = PerText<std::int32_t>(text, {1});
    call.ids.push_back(ids);
    return run(engine, call).hidden.back();
  }

  AlignedBytes blob_ = AlignedBytes(make_synthetic_blob(GetParam().shape));
  Source source_ = Source({9, 1, 17}, GetParam().shape.cross_hidden_size);
};

TEST_P(Decoder, StepsAreTheWholePass) {
  const std::vector<std::size_t> lengths = {37, 20, 9};
  const Pieces uneven = {{5, 1, 2, 8, 21}, {1, 9, 3, 7}, {4, 4, 1}};
  std::mt19937_64 random(3);
  Call plain, masked;
  plain.ids = random_ids({37, 20, 9}, shape().vocab_size, 1);
  plain.type_ids = random_ids({37, 20, 9}, shape().type_vocab_size, 2);
  masked = plain;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    masked.key_mask.push_back(random_mask(lengths[i], random));
    masked.query_mask.push_back(random_mask(lengths[i], random, 255));
    masked.pair_mask.push_back(random_mask(lengths[i] * lengths[i], random, 3));
    if (GetParam().has_source()) {
      masked.cross_mask.push_back(random_mask(lengths[i] * source_.lengths[i], random));
    }
  }
  masked.key_mask[1][0] = 0;  // the first row sees nothing
  for (const Call* call : {&plain, &masked}) {
    PerText<std::int16_t> expected;
    for (const Way way : all_ways()) {
      const GuardedEngine engine(blob_, way, 3);
      set_source(engine);
      const PerText<std::int16_t> whole = run(engine, *call).hidden;
      if (expected.empty()) expected = whole;
      EXPECT_TRUE(whole == expected) << embert_isa_name(way.isa_mask);
      for (const Pieces& pieces : {equal_pieces(lengths, 1), equal_pieces(lengths, 3), uneven}) {
        ASSERT_EQ(embert_cache_clear(engine), EMBERT_STATUS_OK);
        EXPECT_TRUE(run_pieces(engine, *call, pieces) == expected)
            << embert_isa_name(way.isa_mask) << ", " << way.threads << " threads, "
            << pieces[0].size() << " steps" << (call == &masked ? ", masked" : "");
      }
      EXPECT_EQ(embert_cache_length(engine, 0), 37u);
      EXPECT_EQ(embert_cache_length(engine, 2), 9u);
      EXPECT_EQ(embert_cache_length(engine, 3), 0u);
    }
    EXPECT_GT(*std::max_element(expected[0].begin(), expected[0].end()), 500);
  }
}

TEST_P(Decoder, StepsSeeWhatTheWholePassSees) {
  const std::size_t length = 21, heads = shape().num_heads, layers = shape().num_layers;
  Call call;
  call.ids = random_ids({length}, shape().vocab_size, 4);
  for (const Way way : all_ways()) {
    const GuardedEngine engine(blob_, way);
    if (GetParam().has_source()) Source({9}, shape().cross_hidden_size).set(engine);
    const Answer whole = run(engine, call, kWantAttentions);
    ASSERT_EQ(embert_cache_clear(engine), EMBERT_STATUS_OK);
    for (std::size_t row = 0; row < length; ++row) {
      const Answer step = run(engine, step_of(call, {row}, {1}), kWantAttentions);
      for (std::size_t i = 0; i < layers * heads; ++i) {
        if (i >= layers * heads - shape().pruned_heads) break;  // not there
        const auto expected = part(whole.attentions, (i * length + row) * length, length);
        EXPECT_EQ(part(step.attentions, i * (row + 1), row + 1), part(expected, 0, row + 1));
        EXPECT_EQ(part(expected, row + 1, length - row - 1),
                  std::vector<std::uint16_t>(length - row - 1, 0));
      }
    }
  }
}

TEST_P(Decoder, TruncatedTextsGoOnAsIfNothingHadCome) {
  const std::vector<std::int32_t> text = random_ids({20}, shape().vocab_size, 5)[0],
                                  rest = random_ids({11}, shape().vocab_size, 6)[0];
  for (const Way way : all_ways()) {
    const GuardedEngine engine(blob_, way, 3);
    set_source(engine);
    for (std::size_t kept : {0u, 1u, 3u, 4u, 15u, 16u, 17u, 20u}) {
      Call call;
      call.ids = {text, text, text};
      ASSERT_EQ(embert_cache_clear(engine), EMBERT_STATUS_OK);
      run(engine, call);
      ASSERT_EQ(embert_cache_truncate(engine, 1, static_cast<std::uint32_t>(kept)),
                EMBERT_STATUS_OK);
      EXPECT_EQ(embert_cache_length(engine, 1), kept);
      call.ids = {rest, rest};
      const PerText<std::int16_t> hidden = run(engine, call).hidden;
      std::vector<std::int32_t> second = part(text, 0, kept);
      second.insert(second.end(), rest.begin(), rest.end());
      const std::vector<std::int16_t> expected = fresh(way, second, 1);
      EXPECT_EQ(hidden[1],
                part(expected, kept * shape().hidden_size, rest.size() * shape().hidden_size))
          << kept;
      std::vector<std::int32_t> first = text;
      first.insert(first.end(), rest.begin(), rest.end());
      EXPECT_EQ(hidden[0], part(fresh(way, first, 0), text.size() * shape().hidden_size,
                                rest.size() * shape().hidden_size));
    }
  }
}

// Source i belongs to text i: a text that continues as another one needs the same source for the
// same bits.
TEST_P(Decoder, ReorderedTextsGoOnFromTheirParents) {
  const PerText<std::int32_t> texts = random_ids({13, 6, 18}, shape().vocab_size, 7),
                              rest = random_ids({5, 2, 4}, shape().vocab_size, 8);
  const Source source({9}, shape().cross_hidden_size);
  for (const Way way : all_ways()) {
    for (const std::vector<std::uint32_t>& parents : PerText<std::uint32_t>{
             {1, 0}, {1, 2, 0}, {2, 0, 1}, {0, 0, 0}, {2, 2, 1}, {0, 1, 1}, {2}}) {
      const GuardedEngine engine(blob_, way, 3);
      if (GetParam().has_source()) source.set(engine);
      Call call;
      call.ids = texts;
      call.key_mask = {
          std::vector<std::uint8_t>(13, 1), {1, 1, 0, 1, 0, 1}, std::vector<std::uint8_t>(18, 1)};
      run(engine, call);
      ASSERT_EQ(
          embert_cache_reorder(engine, parents.data(), static_cast<std::uint32_t>(parents.size())),
          EMBERT_STATUS_OK);
      Call more;
      more.ids = rest;
      const PerText<std::int16_t> hidden = run(engine, more).hidden;
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::size_t parent = i < parents.size() ? parents[i] : i;
        const GuardedEngine alone(blob_, way);
        if (GetParam().has_source()) source.set(alone);
        Call before, after;
        before.ids = {texts[parent]};
        before.key_mask = {call.key_mask[parent]};
        after.ids = {rest[i]};
        run(alone, before);
        EXPECT_EQ(hidden[i], run(alone, after).hidden[0]) << i << " from " << parent;
        EXPECT_EQ(embert_cache_length(engine, static_cast<std::uint32_t>(i)),
                  texts[parent].size() + rest[i].size());
      }
    }
  }
}

// A text's bits depend neither on the texts beside it nor on the capacity of the cache.
TEST_P(Decoder, ATextIsTheSameInEveryPlaceAndRoom) {
  const std::vector<std::int32_t> text = random_ids({19}, shape().vocab_size, 9)[0];
  const Source source({9}, shape().cross_hidden_size);
  std::vector<std::int16_t> expected;
  for (const Way way : all_ways()) {
    for (std::uint32_t room : {19u, 20u, 33u, 48u}) {
      const GuardedEngine engine(blob_, way, 2, room);
      if (GetParam().has_source()) source.set(engine);
      Call call;
      call.ids = {random_ids({room}, shape().vocab_size, room)[0], text};
      const std::vector<std::int16_t> hidden = run(engine, call).hidden[1];
      if (expected.empty()) expected = hidden;
      EXPECT_TRUE(hidden == expected) << room;
    }
  }
}

// So many texts that their chunks, which reordering needs, are the largest part of the scratch.
TEST(DecoderBatch, ManyTextsAreReordered) {
  const SyntheticModel model = small_decoder(0, kPositionTable);
  const AlignedBytes blob(make_synthetic_blob(model));
  const std::uint32_t texts = 300;
  for (const Way way : all_ways()) {
    const GuardedEngine engine(blob, way, texts, 2), other(blob, way, texts, 2);
    Call first, second, expected;
    std::vector<std::uint32_t> parents;
    for (std::uint32_t i = 0; i < texts; ++i) {
      const auto id = [](std::uint32_t n) { return static_cast<std::int32_t>(n % 60); };
      parents.push_back((i * 7 + 11) % texts);
      first.ids.push_back({id(i)});
      second.ids.push_back({id(i * 3)});
      expected.ids.push_back({id(parents[i]), id(i * 3)});
    }
    run(engine, first);
    ASSERT_EQ(embert_cache_reorder(engine, parents.data(), texts), EMBERT_STATUS_OK);
    const PerText<std::int16_t> hidden = run(engine, second).hidden,
                                whole = run(other, expected).hidden;
    for (std::size_t i = 0; i < texts; ++i) {
      ASSERT_EQ(hidden[i], part(whole[i], model.hidden_size, model.hidden_size)) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Decoder, testing::ValuesIn(decoders()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace embert::test
