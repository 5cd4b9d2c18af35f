// SPDX-License-Identifier: Apache-2.0
// Wrong masks, positions, caches and sources of callers, each with its status. A refused call
// changes nothing.
#include "tests/runtime/generation/decoder_models.hpp"

#include "embert/embert_lm.h"

namespace embert::test {
namespace {

SyntheticModel plain_encoder() {
  SyntheticModel model = small_decoder(0, kPositionTable);
  model.flags = 0;
  model.heads = 0;
  return model;
}

class FamilyArguments : public testing::Test {
 protected:
  const AlignedBytes encoder_ = AlignedBytes(make_synthetic_blob(plain_encoder()));
  const AlignedBytes decoder_ = AlignedBytes(make_synthetic_blob(small_decoder(0, kPositionTable)));
  const AlignedBytes cross_ =
      AlignedBytes(make_synthetic_blob(small_decoder(kStackCrossAttention, kPositionTable)));
  const AlignedBytes pair_ = [] {
    SyntheticModel model = small_decoder(kStackCrossAttention, kPositionTable);
    model.encoder = {plain_encoder()};
    model.encoder[0].vocab_size = 30;
    model.cross_hidden_size = 0;
    return AlignedBytes(make_synthetic_blob(model));
  }();
  const Way way_ = all_ways()[0];

  static Call text(std::vector<std::int32_t> ids) {
    Call call;
    call.ids = {std::move(ids)};
    return call;
  }
};

TEST_F(FamilyArguments, SourceOptions) {
  const auto status = [](const AlignedBytes& blob, std::uint32_t max_source_tokens) {
    const embert_model model = open_model(blob);
    embert_options options = embert_options_default(&model);
    options.max_source_tokens = max_source_tokens;
    std::size_t bytes = 0;
    return embert_arena_bytes(&model, &options, &bytes);
  };
  EXPECT_EQ(status(encoder_, 0), EMBERT_STATUS_OK);
  EXPECT_EQ(status(encoder_, 1), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(status(decoder_, 1), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(status(cross_, 0), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(status(cross_, 512), EMBERT_STATUS_OK);
  EXPECT_EQ(status(cross_, 513), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(status(pair_, 0), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(status(pair_, 48), EMBERT_STATUS_OK);
  EXPECT_EQ(status(pair_, 49), EMBERT_STATUS_INVALID_OPTION);
}

TEST_F(FamilyArguments, IdsOrEmbeddings) {
  const GuardedEngine engine(encoder_, way_);
  Call call = text({1, 2});
  call.embeddings.assign(2 * 36, 100);
  call.embeddings_scale = {(127u - 12u) << 23};
  EXPECT_EQ(try_run(engine, call), EMBERT_STATUS_OK);
  for (std::uint32_t bits : {0u, 1u, 0x007FFFFFu, 0x7F800000u, 0x7FC00000u, 0xB9800000u}) {
    call.embeddings_scale = {bits};
    EXPECT_EQ(try_run(engine, call), EMBERT_STATUS_INVALID_SCALE) << bits;
  }
  for (std::uint32_t bits : {0x00800000u, 0x7F7FFFFFu}) {  // however small or large
    call.embeddings_scale = {bits};
    EXPECT_EQ(try_run(engine, call), EMBERT_STATUS_OK) << bits;
  }
  const CallInput input(call);
  embert_output output = {.size = sizeof(output)};
  embert_input both = *input.get(), neither = *input.get();
  both.ids = call.ids[0].data();
  neither.embeddings = nullptr;
  EXPECT_EQ(embert_run(engine, &both, &output), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_run(engine, &neither, &output), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_run(engine, input.get(), nullptr), EMBERT_STATUS_NULL_ARGUMENT);
}

TEST_F(FamilyArguments, Positions) {
  const GuardedEngine engine(encoder_, way_);
  Call call = text({1, 2});
  call.positions = {{47, 0}};
  EXPECT_EQ(try_run(engine, call), EMBERT_STATUS_OK);
  call.positions = {{0, 48}};
  EXPECT_EQ(try_run(engine, call), EMBERT_STATUS_POSITION_OUT_OF_RANGE);
  call.positions = {{-1, 0}};
  EXPECT_EQ(try_run(engine, call), EMBERT_STATUS_POSITION_OUT_OF_RANGE);
}

TEST_F(FamilyArguments, HeadMasks) {
  const GuardedEngine engine(encoder_, way_);
  Call call = text({1, 2});
  call.head_mask = {0, 65536, 1};
  EXPECT_EQ(try_run(engine, call), EMBERT_STATUS_OK);
  for (std::uint32_t layers : {1u, 3u}) {
    call.head_mask.assign(3 * layers, 1);
    call.head_mask_layers = layers;
    EXPECT_EQ(try_run(engine, call), EMBERT_STATUS_INVALID_MASK);
  }
  call.head_mask.assign(6, 1);
  call.head_mask_layers = 2;
  EXPECT_EQ(try_run(engine, call), EMBERT_STATUS_OK);
  for (std::int32_t factor : {-1, 65537}) {
    call.head_mask[5] = factor;
    EXPECT_EQ(try_run(engine, call), EMBERT_STATUS_INVALID_MASK);
  }
  call.head_mask.clear();
  EXPECT_EQ(try_run(engine, call), EMBERT_STATUS_INVALID_MASK);  // layers without a mask
}

TEST_F(FamilyArguments, OutputsThatTheModelHasNot) {
  const GuardedEngine engine(encoder_, way_);
  const Call call = text({1, 2});
  const CallInput input(call);
  std::vector<std::int16_t> states(4096);
  std::uint16_t attentions[4096];
  std::int32_t logits[8];
  embert_scale scales[3];
  const auto status = [&](auto set) {
    embert_output output = {.size = sizeof(output)};
    set(output);
    return embert_run(engine, input.get(), &output);
  };
  using Output = embert_output;
  EXPECT_EQ(status([&](Output& o) { o.pooled = states.data(); }), EMBERT_STATUS_NO_POOLER);
  EXPECT_EQ(status([&](Output& o) { o.logits = logits; }), EMBERT_STATUS_NO_CLASSIFIER);
  EXPECT_EQ(status([&](Output& o) { o.token_logits = logits; }), EMBERT_STATUS_NO_TOKEN_CLASSIFIER);
  EXPECT_EQ(status([&](Output& o) { o.cross_attentions = attentions; }),
            EMBERT_STATUS_NO_CROSS_ATTENTION);
  EXPECT_EQ(status([&](Output& o) { o.hidden_states = states.data(); }),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(status([&](Output& o) {
              o.hidden_states = states.data();
              o.hidden_state_scales = scales;
              o.attentions = attentions;
            }),
            EMBERT_STATUS_OK);
}

TEST_F(FamilyArguments, CachesThatAreFull) {
  const GuardedEngine engine(decoder_, way_, 2, 10);
  Call call;
  call.ids = {{1, 2, 3, 4, 5, 6}, {1}};
  run(engine, call);
  EXPECT_EQ(try_run(engine, text(std::vector<std::int32_t>(11, 1))), EMBERT_STATUS_TOO_MANY_TOKENS);
  EXPECT_EQ(try_run(engine, text({1, 2, 3, 4, 5})), EMBERT_STATUS_CACHE_FULL);
  call.ids = {{1, 2, 3, 4}, std::vector<std::int32_t>(10, 1)};
  EXPECT_EQ(try_run(engine, call), EMBERT_STATUS_CACHE_FULL);
  EXPECT_EQ(embert_cache_length(engine, 0), 6u);
  EXPECT_EQ(embert_cache_length(engine, 1), 1u);
  EXPECT_EQ(try_run(engine, text({1, 2, 3, 4})), EMBERT_STATUS_OK);
  EXPECT_EQ(try_run(engine, text({1})), EMBERT_STATUS_CACHE_FULL);
  EXPECT_EQ(embert_cache_truncate(engine, 0, 9), EMBERT_STATUS_OK);
  EXPECT_EQ(try_run(engine, text({1})), EMBERT_STATUS_OK);
}

TEST_F(FamilyArguments, CacheFunctions) {
  const GuardedEngine engine(decoder_, way_, 2), encoder(encoder_, way_, 2);
  Call call;
  call.ids = {{1, 2, 3}, {1}};
  run(engine, call);
  run(encoder, call);
  const std::uint32_t swap[] = {1, 0}, outside[] = {0, 2}, three[] = {0, 1, 0};
  EXPECT_EQ(embert_cache_clear(nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_cache_clear(encoder), EMBERT_STATUS_NOT_A_DECODER);
  EXPECT_EQ(embert_cache_reorder(nullptr, swap, 2), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_cache_reorder(engine, nullptr, 2), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_cache_reorder(encoder, swap, 2), EMBERT_STATUS_NOT_A_DECODER);
  EXPECT_EQ(embert_cache_reorder(engine, three, 3), EMBERT_STATUS_TOO_MANY_TEXTS);
  EXPECT_EQ(embert_cache_reorder(engine, outside, 2), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(embert_cache_truncate(nullptr, 0, 0), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_cache_truncate(encoder, 0, 0), EMBERT_STATUS_NOT_A_DECODER);
  EXPECT_EQ(embert_cache_truncate(engine, 2, 0), EMBERT_STATUS_TOO_MANY_TEXTS);
  EXPECT_EQ(embert_cache_truncate(engine, 0, 4), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(embert_cache_length(nullptr, 0), 0u);
  EXPECT_EQ(embert_cache_length(encoder, 0), 0u);
  EXPECT_EQ(embert_cache_length(engine, 2), 0u);
  EXPECT_EQ(embert_cache_length(engine, 0), 3u);

  std::vector<std::int32_t> logits(60);
  EXPECT_EQ(embert_lm_logits(engine, 3, logits.data(), nullptr), EMBERT_STATUS_OK);
  EXPECT_EQ(embert_cache_reorder(engine, swap, 2), EMBERT_STATUS_OK);
  EXPECT_EQ(embert_cache_length(engine, 0), 1u);
  EXPECT_EQ(embert_lm_logits(engine, 3, logits.data(), nullptr), EMBERT_STATUS_ROW_OUT_OF_RANGE);
}

TEST_F(FamilyArguments, SourcesThatAreMissing) {
  const GuardedEngine engine(cross_, way_, 3), other(decoder_, way_, 3);
  Call three;
  three.ids = {{1}, {2}, {3}};
  EXPECT_EQ(try_run(engine, three), EMBERT_STATUS_NO_SOURCE);
  Source({4, 4}, 20).set(engine);
  EXPECT_EQ(try_run(engine, three), EMBERT_STATUS_NO_SOURCE);
  EXPECT_EQ(try_run(engine, text({1})), EMBERT_STATUS_OK);
  Source({4}, 20).set(engine);
  EXPECT_EQ(try_run(engine, three), EMBERT_STATUS_OK);
  Call masked = text({1});
  masked.cross_mask = {{1, 1, 1, 0}};
  EXPECT_EQ(try_run(engine, masked), EMBERT_STATUS_OK);
  EXPECT_EQ(try_run(other, masked), EMBERT_STATUS_INVALID_MASK);
}

TEST_F(FamilyArguments, SourcesThatAreWrong) {
  const GuardedEngine engine(cross_, way_, 2, 0, 9), other(decoder_, way_);
  const Source good({9, 3}, 20);
  const auto status = [&](embert_engine* e, std::vector<std::uint32_t> lengths,
                          embert_scale scale) {
    const embert_source source = {.size = sizeof(source),
                                  .states = good.states.data(),
                                  .lengths = lengths.data(),
                                  .batch = static_cast<std::uint32_t>(lengths.size()),
                                  .scale = scale};
    return embert_set_source(e, &source);
  };
  const std::uint32_t length = 3;
  const embert_source usual = {.size = sizeof(usual),
                               .states = good.states.data(),
                               .lengths = &length,
                               .batch = 1,
                               .scale = good.scale};
  embert_source no_states = usual, no_lengths = usual, no_text = usual;
  no_states.states = nullptr;
  no_lengths.lengths = nullptr;
  no_text.batch = 0;
  EXPECT_EQ(status(engine, {9, 3}, good.scale), EMBERT_STATUS_OK);
  EXPECT_EQ(status(nullptr, {3}, good.scale), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_set_source(engine, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_set_source(engine, &no_states), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_set_source(engine, &no_lengths), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(status(other, {3}, good.scale), EMBERT_STATUS_NO_CROSS_ATTENTION);
  EXPECT_EQ(embert_set_source(engine, &no_text), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(status(engine, {3, 0}, good.scale), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(status(engine, {1, 1, 1}, good.scale), EMBERT_STATUS_TOO_MANY_TEXTS);
  EXPECT_EQ(status(engine, {2, 10}, good.scale), EMBERT_STATUS_TOO_MANY_TOKENS);
  for (std::uint32_t bits : {0u, 0x7F800000u, 0xB9800000u}) {
    EXPECT_EQ(status(engine, {3}, {bits}), EMBERT_STATUS_INVALID_SCALE);
  }
  // The two sources that were set are still there.
  Call two;
  two.ids = {{1, 2}, {3}};
  two.cross_mask = {std::vector<std::uint8_t>(18, 1), {1, 1, 1}};
  EXPECT_EQ(try_run(engine, two), EMBERT_STATUS_OK);
}

TEST_F(FamilyArguments, SourcesOfTheEncoder) {
  const GuardedEngine engine(pair_, way_, 2, 0, 9), alone(cross_, way_);
  const auto status = [&](embert_engine* e, const Call& call, auto set) {
    const CallInput input(call);
    embert_output output = {.size = sizeof(output)};
    set(output);
    return embert_encode_source(e, input.get(), &output);
  };
  const auto nothing = [](embert_output&) {};
  std::int16_t pooled[64];
  std::int32_t logits[64];
  std::uint16_t attentions[4096];
  EXPECT_EQ(status(engine, text({1, 29}), nothing), EMBERT_STATUS_OK);
  EXPECT_EQ(status(alone, text({1, 2}), nothing), EMBERT_STATUS_NO_CROSS_ATTENTION);
  EXPECT_EQ(status(nullptr, text({1, 2}), nothing), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_encode_source(engine, nullptr, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(status(engine, text({1, 30}), nothing), EMBERT_STATUS_TOKEN_OUT_OF_RANGE);
  EXPECT_EQ(status(engine, text(std::vector<std::int32_t>(10, 1)), nothing),
            EMBERT_STATUS_TOO_MANY_TOKENS);
  Call many;
  many.ids = {{1}, {1}, {1}};
  EXPECT_EQ(status(engine, many, nothing), EMBERT_STATUS_TOO_MANY_TEXTS);
  const auto refused = [&](auto set) {
    EXPECT_EQ(status(engine, text({1}), set), EMBERT_STATUS_INVALID_OPTION);
  };
  refused([&](embert_output& o) { o.pooled = pooled; });
  refused([&](embert_output& o) { o.logits = logits; });
  refused([&](embert_output& o) { o.token_logits = logits; });
  refused([&](embert_output& o) { o.cross_attentions = attentions; });
  Call masked = text({1, 2});
  masked.cross_mask = {{1, 1, 1, 1}};
  EXPECT_EQ(status(engine, masked, nothing), EMBERT_STATUS_INVALID_MASK);
  EXPECT_EQ(try_run(engine, text({59})), EMBERT_STATUS_OK);  // the first source is still there
}

}  // namespace
}  // namespace embert::test
