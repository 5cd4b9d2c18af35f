// SPDX-License-Identifier: Apache-2.0
// The same bits on every ISA of this machine, with any number of threads, in batches and in dirty
// arenas, for shapes that are not multiples of a tile.
#include <algorithm>
#include <cstring>

#include "embert/embert_lm.h"
#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/variants.hpp"
#include "tests/runtime/generation/decoder_models.hpp"
#include "tests/support/system/isa_masks.hpp"

namespace embert::test {
namespace {

struct Setting {
  std::uint32_t threads, max_batch;
  std::uint8_t dirt;             ///< fills the arena before
  std::uint32_t max_tokens = 0;  ///< 0: those of the longest text
};

/// Hidden states of all texts, one after another.
std::vector<std::int16_t> encode(const embert_model& model, const SyntheticModel& shape,
                                 const Texts& texts, const Setting& setting) {
  const std::uint32_t max_batch = setting.max_batch;
  embert_options options = embert_options_default(&model);
  options.max_tokens = setting.max_tokens != 0
                           ? setting.max_tokens
                           : *std::max_element(texts.lengths.begin(), texts.lengths.end());
  options.max_batch = max_batch;
  options.threads = setting.threads;
  options.parallel_for = run_threads;
  AlignedBytes arena(arena_bytes(model, options));
  std::memset(arena.data(), setting.dirt, arena.size());
  embert_engine* engine = nullptr;
  EXPECT_EQ(embert_engine_init(&model, &options, arena.data(), arena.size(), &engine),
            EMBERT_STATUS_OK);
  std::vector<std::int16_t> all;
  std::size_t token = 0;
  for (std::size_t text = 0; text < texts.lengths.size(); text += max_batch) {
    const auto batch =
        static_cast<std::uint32_t>(std::min<std::size_t>(max_batch, texts.lengths.size() - text));
    const embert_input input = make_input(texts.ids.data() + token, texts.type_ids.data() + token,
                                          texts.lengths.data() + text, batch);
    const std::int16_t* hidden = nullptr;
    EXPECT_EQ(embert_last_hidden_state(engine, &input, &hidden, nullptr), EMBERT_STATUS_OK);
    std::size_t tokens = 0;
    for (std::uint32_t i = 0; i < batch; ++i) tokens += texts.lengths[text + i];
    all.insert(all.end(), hidden, hidden + tokens * shape.hidden_size);
    token += tokens;
  }
  return all;
}

SyntheticModel shape(std::uint32_t hidden, std::uint32_t heads, std::uint32_t head_size,
                     std::uint32_t inner, std::uint32_t activation) {
  SyntheticModel model;
  model.hidden_size = hidden;
  model.num_heads = heads;
  model.head_size = head_size;
  model.intermediate_size = inner;
  model.activation = activation;
  model.max_positions = 70;
  return model;
}

/// With what ModernBERT has: rotary positions, local layers, gated feed-forward networks.
SyntheticModel modern(std::uint32_t head_size, std::uint32_t inner, std::uint32_t activation) {
  SyntheticModel model = shape(4 * head_size - 3, 4, head_size, inner, activation);
  model.num_layers = 3;
  model.flags =
      kStackPreNorm | kStackEmbeddingNorm | kStackRotary | kStackLocalAttention | kStackGatedFfn;
  model.rotary_tables = 2;
  return model;
}

/// With word embeddings of 4 bits.
SyntheticModel four_bits(std::uint32_t hidden, std::uint32_t activation, std::uint32_t flags = 0) {
  SyntheticModel model = shape(hidden, 4, 18, 104, activation);
  model.flags = kStackEmbeddings4Bit | flags;
  return model;
}

/// With what MobileBERT has: bottlenecks, several feed-forward networks, words with neighbours.
SyntheticModel mobile(std::uint32_t hidden, BlobBottleneck bottleneck, bool layer_norms) {
  SyntheticModel model =
      shape(hidden, 3, bottleneck.intra_size / 3, 2 * hidden - 1, kActivationRelu);
  model.flags = kStackBottleneck | kStackWordProjection;
  if (!layer_norms) model.flags |= kStackEmbeddings4Bit;
  model.bottleneck = bottleneck;
  model.layer_norms = layer_norms;
  model.word_size = hidden / 2;
  model.words = bottleneck.num_ffns > 1 ? 3 : 1;
  return model;
}

/// With inputs of two planes.
SyntheticModel with_planes(SyntheticModel model, BlobPlanes planes) {
  model.flags |= kStackPlanes;
  model.planes = planes;
  return model;
}

class Bits : public testing::TestWithParam<SyntheticModel> {};

TEST_P(Bits, AreTheSameOnEveryIsaThreadsBatchAndDirt) {
  const AlignedBytes blob(make_synthetic_blob(GetParam()));
  const Texts texts(GetParam(), {1, 2, 7, 16, 17, 33, 64, 70}, 5);
  const std::vector<std::int16_t> expected = encode(open_model(blob), GetParam(), texts, {1, 1, 0});
  const auto [low, high] = std::minmax_element(expected.begin(), expected.end());
  EXPECT_LT(*low, -500);  // the test model gives more than noise around zero
  EXPECT_GT(*high, 500);
  for (const std::uint32_t isa : isa_masks()) {
    const embert_model model = open_model(blob, isa);
    for (std::uint32_t threads : {1u, 2u, 3u}) {
      for (std::uint32_t batch : {1u, 3u, 8u}) {
        const std::uint8_t dirt = threads == 1 ? 0xAA : 0xFF;
        EXPECT_TRUE(encode(model, GetParam(), texts, {threads, batch, dirt}) == expected)
            << embert_isa_name(isa) << ", " << threads << " threads, batch " << batch;
      }
    }
  }
}

// Weights in the order of i8mm, where its kernels run; an engine of other kernels refuses them.
TEST_P(Bits, AreTheSameInTheOrderOfI8mm) {
  SyntheticModel shape = GetParam();
  const AlignedBytes blob(make_synthetic_blob(shape));
  shape.weight_order = RhsOrder::kN8K16;
  const AlignedBytes reordered(make_synthetic_blob(shape));
  embert_model model = {};
  const embert_status opened =
      embert_model_open(reordered.data(), reordered.size(), EMBERT_ISA_SCALAR, &model);
  if (!kOpensN8K16) {
    EXPECT_EQ(opened, EMBERT_STATUS_LAYOUT);
    return;
  }
  ASSERT_EQ(opened, EMBERT_STATUS_OK);
  const Texts texts(shape, {1, 2, 7, 16, 17, 33, 64, 70}, 5);
  for (const std::uint32_t isa : isa_masks()) {
    model = open_model(reordered, isa);
    if ((isa & kIsaI8mm) != 0) {
      for (const std::uint32_t batch : {1u, 8u}) {
        EXPECT_TRUE(encode(model, shape, texts, {2, batch, 0xAA}) ==
                    encode(open_model(blob, isa), shape, texts, {1, 1, 0}))
            << batch;
      }
    } else {
      embert_options options = embert_options_default(&model);
      AlignedBytes arena(arena_bytes(model, options));
      embert_engine* engine = nullptr;
      EXPECT_EQ(embert_engine_init(&model, &options, arena.data(), arena.size(), &engine),
                EMBERT_STATUS_LAYOUT)
          << embert_isa_name(isa);
    }
  }
}

// The same bits on every kind of processor and with every compiler: compared with a constant, not
// with another variant's result.
TEST(GoldenBits, OfASyntheticModel) {
  const SyntheticModel model = shape(100, 5, 20, 36, kActivationGelu);
  const AlignedBytes blob(make_synthetic_blob(model));
  const Texts texts(model, {1, 33, 70}, 5);
  const std::vector<std::int16_t> hidden =
      encode(open_model(blob, embert_isa_detect()), model, texts, {2, 2, 0x55});
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(hidden.data());
  EXPECT_EQ(crc32c_scalar(0, bytes, 2 * hidden.size()), 707151286u);
}

TEST(GoldenBits, OfAModernStack) {
  const SyntheticModel model = modern(18, 104, kActivationGelu);
  const AlignedBytes blob(make_synthetic_blob(model));
  const Texts texts(model, {1, 33, 70}, 5);
  const std::vector<std::int16_t> hidden =
      encode(open_model(blob, embert_isa_detect()), model, texts, {2, 2, 0x55});
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(hidden.data());
  EXPECT_EQ(crc32c_scalar(0, bytes, 2 * hidden.size()), 3188682934u);
}

TEST(GoldenBits, OfAStackWithEmbeddingsOf4Bits) {
  const SyntheticModel model = four_bits(100, kActivationGelu);
  const AlignedBytes blob(make_synthetic_blob(model));
  const Texts texts(model, {1, 33, 70}, 5);
  const std::vector<std::int16_t> hidden =
      encode(open_model(blob, embert_isa_detect()), model, texts, {2, 2, 0x55});
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(hidden.data());
  EXPECT_EQ(crc32c_scalar(0, bytes, 2 * hidden.size()), 4204368637u);
}

// The checksum of three texts' hidden states, behind those that crc stands for.
std::uint32_t add_hidden_states(std::uint32_t crc, const SyntheticModel& model) {
  const AlignedBytes blob(make_synthetic_blob(model));
  const Texts texts(model, {1, 33, 70}, 5);
  const std::vector<std::int16_t> hidden =
      encode(open_model(blob, embert_isa_detect()), model, texts, {2, 2, 0x55});
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(hidden.data());
  return crc32c_scalar(crc, bytes, 2 * hidden.size());
}

TEST(GoldenBits, OfAStackWithPlanes) {
  std::uint32_t crc = 0;
  const SyntheticModel plain = shape(100, 5, 20, 36, kActivationGelu);
  for (const SyntheticModel& model :
       {with_planes(plain, {kPlanesAll, kPlanesAll, kPlanesAll, kPlanesAll}),
        with_planes(plain, {kPlanesFirst, kPlanesNone, kPlanesAll, kPlanesNone}),
        with_planes(plain, {.qkv = kPlanesFirst, .probabilities = kPlanesAll}),
        with_planes(modern(18, 104, kActivationGelu), {.probabilities = kPlanesAll})}) {
    crc = add_hidden_states(crc, model);
  }
  EXPECT_EQ(crc, 4263066400u);
}

TEST(GoldenBits, OfAStackWithScorePlanes) {
  std::uint32_t crc = 0;
  const BlobPlanes planes = {.qkv = kPlanesAll, .probabilities = kPlanesScores};
  for (const std::uint32_t head_size : {20u, 33u}) {
    crc = add_hidden_states(
        crc, with_planes(shape(3 * head_size, 3, head_size, 36, kActivationGelu), planes));
  }
  EXPECT_EQ(crc, 3168118158u);
}

TEST(GoldenBits, OfAStackWithColumnGroups) {
  std::uint32_t crc = 0;
  for (const BlobPlanes planes :
       {BlobPlanes{.first_columns = 32}, BlobPlanes{.ffn_down = kPlanesAll, .first_columns = 32}}) {
    const SyntheticModel model = with_planes(shape(100, 5, 20, 150, kActivationGelu), planes);
    crc = add_hidden_states(crc, model);
  }
  EXPECT_EQ(crc, 2847330546u);
}

// More than 256 keys are attended to by fewer queries at a time (attention.cpp).
TEST(GoldenBits, OfTextsAround256Tokens) {
  SyntheticModel model = shape(36, 3, 12, 50, kActivationGelu);
  model.max_positions = 512;
  const AlignedBytes blob(make_synthetic_blob(model));
  const Texts texts(model, {255, 256, 257, 272, 273, 512}, 5);
  for (const std::uint32_t isa : isa_masks()) {
    for (const Setting& setting : {Setting{1, 1, 0xAA}, Setting{2, 6, 0xFF}}) {
      const std::vector<std::int16_t> hidden = encode(open_model(blob, isa), model, texts, setting);
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(hidden.data());
      EXPECT_EQ(crc32c_scalar(0, bytes, 2 * hidden.size()), 1884113102u) << embert_isa_name(isa);
    }
  }
}

// An arena for long texts has room for kLastBlockRows rows in the last block; the bits stay.
TEST(LastBlock, HasTheSameBitsWithAndWithoutRoom) {
  const SyntheticModel plain = shape(100, 5, 20, 150, kActivationGelu);
  for (SyntheticModel model :
       {plain, with_planes(plain, {kPlanesAll, kPlanesAll, kPlanesAll, kPlanesAll}),
        with_planes(plain, {.ffn_down = kPlanesAll, .first_columns = 32}),
        modern(18, 104, kActivationGelu)}) {
    model.max_positions = 512;
    const AlignedBytes blob(make_synthetic_blob(model));
    for (const std::uint32_t tokens : {33u, 40u, 72u}) {
      const Texts texts(model, {tokens}, tokens);
      // Each of 8 threads has 12 rows at most.
      const std::vector<std::int16_t> expected = encode(open_model(blob), model, texts, {8, 1, 0});
      for (const std::uint32_t isa : isa_masks()) {
        EXPECT_TRUE(encode(open_model(blob, isa), model, texts, {1, 1, 0xAA, 512}) == expected)
            << embert_isa_name(isa) << ", " << tokens << " tokens";
      }
    }
  }
}

// The same for an encoder and a decoder with everything in them: hidden states, probabilities,
// logits of the vocabulary.
TEST(GoldenBits, OfAPair) {
  SyntheticModel model = decoders().back().shape;
  model.encoder = {model};
  model.encoder[0].flags = 0;
  model.encoder[0].pruned_heads = 0;
  model.heads |= kHeadProjection | kHeadLmTransform | kHeadTokenClassifier;
  model.start_id = 5;
  const AlignedBytes blob(make_synthetic_blob(model));
  const GuardedEngine engine(blob, {embert_isa_detect(), 2}, 3);
  Call source, target;
  source.ids = random_ids({41, 7}, model.vocab_size, 11);
  source.key_mask = {std::vector<std::uint8_t>(41, 1), {1, 1, 0, 1, 1, 0, 1}};
  const CallInput input(source);
  ASSERT_EQ(embert_encode_source(engine, input.get(), nullptr), EMBERT_STATUS_OK);
  target.ids = random_ids({22, 3}, model.vocab_size, 12);
  target.head_mask = {32768, 10000, 20000};
  const Answer answer =
      run(engine, target, kWantHidden | kWantStates | kWantAttentions | kWantTokenLogits);
  std::uint32_t crc = 0;
  const auto add = [&crc](const auto& values) {
    crc = crc32c_scalar(crc, reinterpret_cast<const std::uint8_t*>(values.data()),
                        values.size() * sizeof(values[0]));
  };
  add(joined(answer.hidden));
  add(answer.hidden_states);
  add(answer.attentions);
  add(answer.token_logits);
  EXPECT_EQ(crc, 141820568u);

  embert_generate_options options = embert_generate_options_default(&engine.model());
  std::vector<std::uint64_t> workspace(4096);
  for (std::uint32_t beams : {1u, 3u}) {
    options.beams = beams;
    std::vector<std::int32_t> ids(20);
    embert_generation generation = {.size = sizeof(generation)};
    generation.workspace = workspace.data();
    generation.workspace_bytes = 8 * workspace.size();
    generation.ids = ids.data();
    generation.capacity = ids.size();
    Call one = source;
    one.ids.resize(1);
    one.key_mask.resize(1);
    const CallInput alone(one);
    ASSERT_EQ(embert_encode_source(engine, alone.get(), nullptr), EMBERT_STATUS_OK);
    ASSERT_EQ(embert_generate(engine, &options, &generation), EMBERT_STATUS_OK);
    add(ids);
    add(std::vector<std::int64_t>{generation.log2_score});
  }
  EXPECT_EQ(crc, 2365121148u);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Bits,
    testing::Values(
        shape(64, 4, 16, 128, kActivationGelu), shape(72, 3, 24, 150, kActivationGeluNew),
        shape(100, 5, 20, 36, kActivationSilu), shape(52, 2, 26, 100, kActivationTanh),
        shape(36, 3, 12, 200, kActivationRelu), shape(3, 1, 3, 1, kActivationGelu),
        shape(128, 1, 128, 64, kActivationGelu), modern(18, 104, kActivationGelu),
        modern(64, 150, kActivationSilu), modern(2, 5, kActivationTanh),
        four_bits(73, kActivationGelu), four_bits(31, kActivationRelu, kStackEmbeddingProjection),
        with_planes(shape(71, 3, 18, 150, kActivationGelu),
                    {kPlanesAll, kPlanesAll, kPlanesAll, kPlanesAll, kPlanesAll}),
        with_planes(shape(75, 3, 25, 97, kActivationGelu),
                    {.qkv = kPlanesAll, .probabilities = kPlanesScores}),
        with_planes(shape(127, 1, 127, 64, kActivationGelu),
                    {kPlanesAll, kPlanesAll, kPlanesAll, kPlanesAll, kPlanesScores}),
        with_planes(shape(68, 2, 34, 97, kActivationRelu),
                    {kPlanesFirst, kPlanesNone, kPlanesNone, kPlanesAll}),
        with_planes(shape(2, 1, 128, 1, kActivationTanh),
                    {kPlanesFirst, kPlanesAll, kPlanesNone, kPlanesAll}),
        with_planes(modern(20, 101, kActivationGelu),
                    {kPlanesAll, kPlanesNone, kPlanesAll, kPlanesAll, kPlanesAll}),
        with_planes(shape(69, 3, 23, 165, kActivationGelu), {.first_columns = 128}),
        with_planes(shape(60, 2, 30, 49, kActivationSilu),
                    {.ffn_down = kPlanesAll, .first_columns = 48}),
        with_planes(modern(22, 130, kActivationGelu), {.qkv = kPlanesFirst, .first_columns = 16}),
        with_planes(shape(74, 2, 37, 64, kActivationGelu), {.copied_inputs = 5}),
        with_planes(modern(26, 99, kActivationSilu), {.ffn_up = kPlanesAll, .copied_inputs = 255}),
        mobile(54, {21, 4, kBottleneckShared, 0}, false),
        mobile(55, {33, 2, kBottleneckShared, 0}, true),
        mobile(70, {30, 1, kBottleneckInput, 0}, false),
        mobile(39, {39, 2, kBottleneckOutput, 0}, true),
        mobile(48, {48, 3, kBottleneckNone, 0}, true)),
    [](const auto& tested) {
      return "hidden" + std::to_string(tested.param.hidden_size) + "heads" +
             std::to_string(tested.param.num_heads);
    });

// Rows of the table times their multipliers, given as the caller's words with the table's scale.
TEST(WordProjection, GivenWordsAreTheirIds) {
  const SyntheticModel model = mobile(55, {33, 2, kBottleneckShared, 0}, true);
  const AlignedBytes blob(make_synthetic_blob(model));
  const auto* table = reinterpret_cast<const BlobSection*>(blob.data() + sizeof(BlobHeader));
  const auto* header = reinterpret_cast<const BlobHeader*>(blob.data());
  const auto* words = reinterpret_cast<const std::int8_t*>(blob.data() + table[1].offset);
  const auto* multipliers = reinterpret_cast<const std::int32_t*>(blob.data() + table[2].offset);
  const Texts texts(model, {9, 1, 4}, 7);
  std::vector<std::int16_t> given;
  for (const std::int32_t id : texts.ids) {
    const auto word = static_cast<std::size_t>(id);
    for (std::size_t c = 0; c < model.word_size; ++c) {
      given.push_back(static_cast<std::int16_t>(
          embedding_value(words[word * model.word_size + c], multipliers[word], 0, 0)));
    }
  }
  const embert_model opened = open_model(blob);
  embert_options options = embert_options_default(&opened);
  options.max_batch = 3;
  AlignedBytes arena(0);
  embert_engine* engine = make_engine(opened, options, arena);
  ASSERT_NE(engine, nullptr);
  std::vector<std::int16_t> hidden[2];
  for (const bool by_id : {true, false}) {
    embert_input input = texts.input();
    if (!by_id) {
      input.ids = nullptr;
      input.embeddings = given.data();
      input.embeddings_scale.float_bits = header->stacks[0].embedding_scale;
    }
    const std::int16_t* rows = nullptr;
    ASSERT_EQ(embert_last_hidden_state(engine, &input, &rows, nullptr), EMBERT_STATUS_OK);
    hidden[by_id].assign(rows, rows + texts.ids.size() * model.hidden_size);
  }
  EXPECT_EQ(hidden[0], hidden[1]);
}

}  // namespace
}  // namespace embert::test
