// SPDX-License-Identifier: Apache-2.0
// The arena's size is exact: every model runs between guard pages in an arena of that size.
#include <algorithm>
#include <cstring>
#include <set>

#include "embert/embert_run.h"
#include "runtime/engine/arena_plan.hpp"
#include "tests/runtime/engine/engine_session.hpp"
#include "tests/support/system/guarded_buffer.hpp"

namespace embert::test {
namespace {

TEST(Arena, IsExactBetweenGuardPages) {
  for (std::uint32_t hidden : {3u, 36u, 64u, 48u, 51u}) {
    SyntheticModel shape;
    shape.hidden_size = hidden;
    if (hidden == 48 || hidden == 51) {
      const bool shared = hidden == 48;
      shape.flags = kStackBottleneck | kStackWordProjection;
      shape.bottleneck = {hidden, 3, shared ? kBottleneckShared : kBottleneckInput, 0};
      shape.word_size = hidden;
    }
    shape.num_heads = hidden / 3;
    shape.head_size = 3;
    shape.intermediate_size = 2 * hidden + 1;
    const AlignedBytes blob(make_synthetic_blob(shape));
    const embert_model model = open_model(blob, embert_isa_detect());
    for (std::uint32_t threads : {1u, 2u}) {
      for (std::uint32_t tokens : {1u, 5u, 16u, 33u, 64u}) {
        embert_options options = embert_options_default(&model);
        options.max_tokens = tokens;
        options.max_batch = 2;
        options.threads = threads;
        options.parallel_for = run_threads;
        const std::size_t bytes = arena_bytes(model, options);
        EXPECT_EQ(bytes % 64, 0u);
        GuardedBuffer<std::uint8_t> arena(bytes, 64);
        embert_engine* engine = nullptr;
        ASSERT_EQ(embert_engine_init(&model, &options, arena.data(), bytes, &engine),
                  EMBERT_STATUS_OK);
        const Texts texts(shape, {tokens, (tokens + 1) / 2}, tokens);
        const embert_input input = texts.input();
        std::vector<std::int16_t> rows(2 * hidden);
        std::int32_t logits[10];
        EXPECT_EQ(embert_embed(engine, &input, EMBERT_POOLING_MODEL, rows.data(), nullptr),
                  EMBERT_STATUS_OK);
        EXPECT_EQ(embert_classify(engine, &input, logits, nullptr), EMBERT_STATUS_OK);
      }
    }
  }
}

// Engines for short texts have no room for kLastBlockRows rows, those for long ones do: both kinds
// run between guard pages.
TEST(Arena, HasRoomForLongLastBlocks) {
  SyntheticModel shape;
  shape.hidden_size = 64;
  shape.num_heads = 4;
  shape.head_size = 16;
  shape.intermediate_size = 128;
  shape.max_positions = 200;
  for (const bool planes : {false, true}) {
    if (planes) {
      shape.flags = kStackPlanes;
      shape.planes = {kPlanesAll, kPlanesAll, kPlanesAll, kPlanesAll};
    }
    const AlignedBytes blob(make_synthetic_blob(shape));
    const embert_model model = open_model(blob, embert_isa_detect());
    std::set<std::uint32_t> dense_rows, ffn_rows;
    for (std::uint32_t tokens = 33; tokens < 200; tokens += 5) {
      for (const std::uint32_t threads : {1u, 2u}) {
        embert_options options = embert_options_default(&model);
        options.max_tokens = tokens;
        options.max_batch = 2;
        options.threads = threads;
        options.parallel_for = run_threads;
        const StackPlan plan = plan_arena(model_of(model), options).stacks[0];
        dense_rows.insert(plan.dense_rows);
        ffn_rows.insert(plan.ffn_rows);
        EXPECT_LE(plan.acc + sizeof(std::int32_t) * plan.dense_rows * plan.acc_columns, plan.row);
        EXPECT_LE(plan.row + 2 * shape.hidden_size, plan.scratch_bytes);
        GuardedBuffer<std::uint8_t> arena(arena_bytes(model, options), 64);
        embert_engine* engine = nullptr;
        ASSERT_EQ(embert_engine_init(&model, &options, arena.data(), arena.size(), &engine),
                  EMBERT_STATUS_OK);
        // On two threads a share of 80 rows is 40.
        const std::uint32_t second = threads == 1 ? 1 : std::min<std::uint32_t>(tokens, 80 - 33);
        const Texts texts(shape, {33, second}, tokens);
        const embert_input input = texts.input();
        std::vector<std::int16_t> rows(2 * shape.hidden_size);
        EXPECT_EQ(embert_embed(engine, &input, EMBERT_POOLING_MODEL, rows.data(), nullptr),
                  EMBERT_STATUS_OK);
      }
    }
    EXPECT_EQ(dense_rows, (std::set<std::uint32_t>{kBlockRows, kLastBlockRows}));
    EXPECT_TRUE(ffn_rows.contains(kLastBlockRows));
  }
}

TEST(Arena, GrowsWithWhatIsAskedFor) {
  const AlignedBytes blob(make_synthetic_blob(SyntheticModel()));
  const embert_model model = open_model(blob);
  embert_options options = embert_options_default(&model);
  std::size_t before = 0;
  for (std::uint32_t tokens : {1u, 16u, 32u, 64u}) {
    options.max_tokens = tokens;
    const std::size_t bytes = arena_bytes(model, options);
    EXPECT_GT(bytes, before);
    before = bytes;
  }
}

// MiniLM's shape at 128 tokens, one thread: the figure of runtime/README.md.
TEST(Arena, OfMiniLmAt128TokensFitsIn256KiB) {
  SyntheticModel shape;
  shape.hidden_size = 384;
  shape.num_layers = 1;
  shape.num_heads = 12;
  shape.head_size = 32;
  shape.intermediate_size = 1536;
  shape.flags = kStackPlanes;
  shape.planes = {.qkv = kPlanesFirst, .first_columns = 128};
  shape.max_positions = 512;
  const AlignedBytes blob(make_synthetic_blob(shape));
  const embert_model model = open_model(blob);
  embert_options options = embert_options_default(&model);
  options.max_tokens = 128;
  EXPECT_EQ(arena_bytes(model, options), 241280u);
}

}  // namespace
}  // namespace embert::test
