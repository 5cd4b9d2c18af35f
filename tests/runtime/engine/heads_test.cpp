// SPDX-License-Identifier: Apache-2.0
// The task heads, against the same formulas in double on the integer hidden states.
#include <algorithm>
#include <cmath>

#include "embert/embert_run.h"

#include "tests/runtime/engine/engine_session.hpp"

namespace embert::test {
namespace {

struct Session {
  SyntheticModel shape;
  AlignedBytes blob, arena;
  embert_model model = {};
  embert_engine* engine = nullptr;
  Texts texts;

  Session(std::uint32_t normalize, const std::vector<std::uint32_t>& lengths,
          std::uint32_t heads = SyntheticModel().heads)
      : shape(make_shape(normalize, heads)),
        blob(make_synthetic_blob(shape)),
        texts(shape, lengths, 3) {
    model = open_model(blob, embert_isa_detect());
    embert_options options = embert_options_default(&model);
    options.max_batch = static_cast<std::uint32_t>(lengths.size());
    arena = AlignedBytes(arena_bytes(model, options));
    EXPECT_EQ(embert_engine_init(&model, &options, arena.data(), arena.size(), &engine),
              EMBERT_STATUS_OK);
  }
  static SyntheticModel make_shape(std::uint32_t normalize, std::uint32_t heads) {
    SyntheticModel shape;
    shape.normalize = normalize;
    shape.heads = heads;
    return shape;
  }
  std::vector<std::int16_t> hidden() {
    const embert_input input = texts.input();
    const std::int16_t* rows = nullptr;
    EXPECT_EQ(embert_last_hidden_state(engine, &input, &rows, nullptr), EMBERT_STATUS_OK);
    return {rows, rows + texts.ids.size() * shape.hidden_size};
  }
};

/// Pools column c of a text's rows.
double pool(const std::int16_t* rows, std::size_t length, std::size_t hidden, std::size_t c,
            embert_pooling pooling) {
  double sum = 0, highest = -1e9;
  for (std::size_t i = 0; i < length; ++i) {
    sum += rows[i * hidden + c];
    highest = std::max<double>(highest, rows[i * hidden + c]);
  }
  if (pooling == EMBERT_POOLING_CLS) return rows[c];
  return pooling == EMBERT_POOLING_MAX ? highest : sum / static_cast<double>(length);
}

TEST(Embed, PoolsAndNormalizes) {
  for (std::uint32_t normalize : {0u, 1u}) {
    Session run(normalize, {1, 7, 64});
    const std::vector<std::int16_t> hidden = run.hidden();
    const std::size_t size = run.shape.hidden_size;
    for (embert_pooling pooling : {EMBERT_POOLING_MEAN, EMBERT_POOLING_CLS, EMBERT_POOLING_MAX}) {
      std::vector<std::int16_t> embeddings(3 * size);
      embert_scale scale = {};
      const embert_input input = run.texts.input();
      ASSERT_EQ(embert_embed(run.engine, &input, pooling, embeddings.data(), &scale),
                EMBERT_STATUS_OK);
      const std::int16_t* rows = hidden.data();
      for (std::size_t text = 0; text < 3; ++text) {
        std::vector<double> expected(size);
        double squares = 0;
        for (std::size_t c = 0; c < size; ++c) {
          expected[c] = pool(rows, run.texts.lengths[text], size, c, pooling);
          squares += expected[c] * expected[c];
        }
        for (std::size_t c = 0; c < size; ++c) {
          const double value =
              normalize != 0 ? expected[c] / std::sqrt(squares) * 32768 : expected[c];
          EXPECT_NEAR(embeddings[text * size + c], value, normalize != 0 ? 0.51 : 0.5001)
              << pooling << " " << c;
        }
        rows += run.texts.lengths[text] * size;
      }
      EXPECT_EQ(embert_scale_to_float(scale), normalize != 0 ? 1.0f / 32768 : 1.0f / 4096);
    }
  }
}

TEST(Embed, ModelPoolingIsTheBlobs) {
  Session run(1, {5});
  const embert_input input = run.texts.input();
  std::vector<std::int16_t> chosen(run.shape.hidden_size), mean(run.shape.hidden_size);
  ASSERT_EQ(embert_embed(run.engine, &input, EMBERT_POOLING_MODEL, chosen.data(), nullptr),
            EMBERT_STATUS_OK);
  ASSERT_EQ(embert_embed(run.engine, &input, EMBERT_POOLING_MEAN, mean.data(), nullptr),
            EMBERT_STATUS_OK);
  EXPECT_EQ(chosen, mean);
}

TEST(Pooler, WithoutDenseLayerIsTheFirstRow) {
  Session run(0, {5, 2}, kHeadPooler | kHeadPooledAsIs | kHeadClassifier);
  const std::vector<std::int16_t> hidden = run.hidden();
  const std::size_t size = run.shape.hidden_size;
  std::vector<std::int16_t> expected(hidden.data(), hidden.data() + size);
  expected.insert(expected.end(), hidden.data() + 5 * size, hidden.data() + 6 * size);
  std::vector<std::int16_t> pooled(2 * size);
  const embert_input input = run.texts.input();
  ASSERT_EQ(embert_pooler_output(run.engine, &input, pooled.data(), nullptr), EMBERT_STATUS_OK);
  EXPECT_EQ(pooled, expected);
}

TEST(Classify, OneAtATimeIsTheBatch) {
  Session run(1, {3, 9, 1});
  const std::size_t labels = run.shape.num_labels, size = run.shape.hidden_size;
  embert_input input = run.texts.input();
  std::vector<std::int32_t> batch(3 * labels), alone(labels);
  std::vector<std::int16_t> pooled_batch(3 * size), pooled(size);
  ASSERT_EQ(embert_classify(run.engine, &input, batch.data(), nullptr), EMBERT_STATUS_OK);
  ASSERT_EQ(embert_pooler_output(run.engine, &input, pooled_batch.data(), nullptr),
            EMBERT_STATUS_OK);
  EXPECT_NE(*std::max_element(pooled_batch.begin(), pooled_batch.end()),
            *std::min_element(pooled_batch.begin(), pooled_batch.end()));
  input.batch = 1;
  for (std::size_t text = 0; text < 3; ++text) {
    ASSERT_EQ(embert_classify(run.engine, &input, alone.data(), nullptr), EMBERT_STATUS_OK);
    ASSERT_EQ(embert_pooler_output(run.engine, &input, pooled.data(), nullptr), EMBERT_STATUS_OK);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(),
                           batch.begin() + static_cast<std::ptrdiff_t>(text * labels)));
    EXPECT_TRUE(std::equal(pooled.begin(), pooled.end(),
                           pooled_batch.begin() + static_cast<std::ptrdiff_t>(text * size)));
    input.ids += *input.lengths;
    input.type_ids += *input.lengths;
    ++input.lengths;
  }
}

}  // namespace
}  // namespace embert::test
