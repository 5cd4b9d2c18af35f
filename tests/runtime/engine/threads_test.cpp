// SPDX-License-Identifier: Apache-2.0
// How the threads of an engine share the rows and the attention heads of a pass.
#include <algorithm>

#include "runtime/engine/run.hpp"
#include "tests/runtime/engine/engine_session.hpp"

namespace embert::test {
namespace {

TEST(RowShares, HaveEachRowOnce) {
  for (std::size_t threads = 1; threads <= 64; ++threads) {
    for (std::size_t rows = 0; rows <= 600; ++rows) {
      const RowShares shares = row_shares(rows, threads);
      std::size_t next = 0;
      for (std::size_t i = 0; i < shares.blocks + shares.equal; ++i) {
        const RowRange share = share_rows(shares, i);
        ASSERT_EQ(share.begin, next) << rows << " rows, " << threads << " threads, share " << i;
        ASSERT_LE(share.begin, share.end);
        next = share.end;
      }
      ASSERT_EQ(next, rows) << threads << " threads";
    }
  }
}

/// Rows of each share.
std::vector<std::size_t> share_sizes(std::size_t rows, std::size_t threads) {
  const RowShares shares = row_shares(rows, threads);
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < shares.blocks + shares.equal; ++i) {
    const RowRange share = share_rows(shares, i);
    sizes.push_back(share.end - share.begin);
  }
  return sizes;
}

TEST(RowShares, AreEqualAndSmallAtTheEnd) {
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(share_sizes(300, 1), Sizes({300}));
  EXPECT_EQ(share_sizes(1, 2), Sizes({1, 0}));
  EXPECT_EQ(share_sizes(8, 2), Sizes({4, 4}));
  EXPECT_EQ(share_sizes(9, 2), Sizes({5, 4}));
  EXPECT_EQ(share_sizes(33, 2), Sizes({17, 16}));
  EXPECT_EQ(share_sizes(127, 2), Sizes({64, 63}));
  EXPECT_EQ(share_sizes(128, 2), Sizes({32, 32, 16, 16, 16, 16}));
  EXPECT_EQ(share_sizes(141, 2), Sizes({32, 32, 20, 20, 20, 17}));
  EXPECT_EQ(share_sizes(128, 4), Sizes({32, 32, 32, 32}));
  EXPECT_EQ(share_sizes(192, 3), Sizes({32, 32, 32, 16, 16, 16, 16, 16, 16}));
}

// Blocks begin where keys and values can be stored; none is as small as the rest that they share.
TEST(BlockRows, HaveEachRowOnce) {
  for (const std::size_t most : std::initializer_list<std::size_t>{12, 16, 20, 24, 32, 40}) {
    for (std::size_t rows = 1; rows <= 300; ++rows) {
      for (std::size_t row = 0, m = 0; row < rows; row += m) {
        m = block_rows(rows - row, most);
        ASSERT_LE(m, std::min(most, rows - row)) << rows << " rows, row " << row;
        ASSERT_GT(m, rows > most ? 4u : 0u) << rows << " rows, row " << row;
        ASSERT_TRUE(row + m == rows || m % kStepInputs == 0) << rows << " rows, row " << row;
      }
    }
  }
  EXPECT_EQ(block_rows(33, 32), 16u);
  EXPECT_EQ(block_rows(18, 16), 12u);
  EXPECT_EQ(block_rows(132, 32), 32u);
  EXPECT_EQ(block_rows(37, 32), 32u);
  EXPECT_EQ(block_rows(5, 32), 5u);
  EXPECT_EQ(block_rows(40, 40), 40u);
  EXPECT_EQ(block_rows(41, 40), 32u);
}

struct Takers {
  Items items{4};
  std::vector<std::uint8_t> taken = std::vector<std::uint8_t>(1 << 16);  ///< how often, by item
};

void take_all(void* argument, std::size_t task) {
  Takers& takers = *static_cast<Takers*>(argument);
  for (std::size_t i = task; i < takers.taken.size(); i = takers.items.after(i)) ++takers.taken[i];
}

TEST(Items, AreTakenOnce) {
  for (int repeat = 0; repeat < 10; ++repeat) {
    Takers takers;
    run_threads(nullptr, take_all, &takers, 4);
    EXPECT_EQ(std::count(takers.taken.begin(), takers.taken.end(), 1), std::ssize(takers.taken));
  }
}

/// Runs the last task first, and one after the other.
void run_backwards(void*, void (*task)(void*, std::size_t), void* argument, std::size_t tasks) {
  while (tasks > 0) task(argument, --tasks);
}

/// An engine of two threads for these texts, whose second task runs first.
embert_engine* make_backwards_engine(const embert_model& model, const Texts& texts,
                                     AlignedBytes& arena) {
  embert_options options = embert_options_default(&model);
  options.max_tokens = *std::max_element(texts.lengths.begin(), texts.lengths.end());
  options.max_batch = static_cast<std::uint32_t>(texts.lengths.size());
  options.threads = 2;
  options.parallel_for = run_backwards;
  return make_engine(model, options, arena);
}

struct Visit {
  std::size_t task, rows;
  bool operator==(const Visit&) const = default;
};

// A processor may be busy with other work when its task should start, or in the middle of it.
TEST(Threads, OneThatComesLateHasItsFirstShareLeft) {
  const SyntheticModel shape;
  const AlignedBytes blob(make_synthetic_blob(shape));
  const embert_model model = open_model(blob);
  const Texts texts(shape, {64, 13, 64}, 7);
  AlignedBytes arena(0);
  embert_engine* engine = make_backwards_engine(model, texts, arena);
  const embert_input input = texts.input();
  const embert_output output = {};
  const embert::Run run(*engine, 0, input, output, /*only_first=*/false);
  std::vector<Visit> visits;
  parallel_rows(run, Queries::kAll, [&](const TaskRows& rows) {
    visits.push_back({rows.task, rows.end - rows.begin});
  });
  EXPECT_EQ(visits, std::vector<Visit>({{1, 32}, {1, 20}, {1, 20}, {1, 20}, {1, 17}, {0, 32}}));
}

TEST(Threads, OrderChangesNoBit) {
  const SyntheticModel shape;
  const AlignedBytes blob(make_synthetic_blob(shape));
  const embert_model model = open_model(blob);
  for (const std::vector<std::uint32_t>& lengths :
       {std::vector<std::uint32_t>{1}, {9}, {64, 13, 64}, {64, 33, 64, 5, 64}}) {
    const Texts texts(shape, lengths, 7);
    const embert_input input = texts.input();
    embert_options options = embert_options_default(&model);
    options.max_batch = static_cast<std::uint32_t>(lengths.size());
    AlignedBytes arena(0), backwards_arena(0);
    embert_engine* engine = make_engine(model, options, arena);
    embert_engine* backwards = make_backwards_engine(model, texts, backwards_arena);
    const std::int16_t *expected = nullptr, *hidden = nullptr;
    ASSERT_EQ(embert_last_hidden_state(engine, &input, &expected, nullptr), EMBERT_STATUS_OK);
    ASSERT_EQ(embert_last_hidden_state(backwards, &input, &hidden, nullptr), EMBERT_STATUS_OK);
    EXPECT_TRUE(std::equal(hidden, hidden + texts.ids.size() * shape.hidden_size, expected));
  }
}

}  // namespace
}  // namespace embert::test
