// SPDX-License-Identifier: Apache-2.0
// Word embeddings of 4 bits: the codes, scales and multipliers decode to the float table.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "converter/quantize/embeddings_4bit.hpp"
#include "kernels/arithmetic/word_4bit.hpp"
#include "tests/converter/quantize/random_weights.hpp"

namespace embert::test {
namespace {

using convert::Matrix;
using convert::QuantizedStack;

constexpr float kScale = 1e-4F;  // of the embedding sum

QuantizedStack quantize(const Matrix& table, int threads = 1) {
  QuantizedStack stack;
  stack.record.embedding_scale = std::bit_cast<std::uint32_t>(kScale);
  stack.word_embeddings.resize(table.data.size());
  stack.word_multipliers.resize(table.rows);
  convert::Workers workers(threads);
  convert::quantize_words_4bit(table, workers, stack);
  return stack;
}

double decoded(const QuantizedStack& stack, std::size_t size, std::size_t id, std::size_t c) {
  const auto& [record, rows] = *stack.embeddings_4bit;
  const std::uint8_t* row = rows.data() + id * word_row_bytes(size);
  return static_cast<double>(word_level(record.levels, row, c) * word_scale(row, size, c) *
                             stack.word_multipliers[id]) *
         0x1p-16 * static_cast<double>(kScale);
}

/// sqrt(power of the error / power of the table).
double relative_error(const QuantizedStack& stack, const Matrix& table) {
  double error = 0, power = 0;
  for (std::size_t id = 0; id < table.rows; ++id) {
    for (std::size_t c = 0; c < table.cols; ++c) {
      const auto value = static_cast<double>(table.row(id)[c]);
      error += std::pow(decoded(stack, table.cols, id, c) - value, 2);
      power += value * value;
    }
  }
  return std::sqrt(error / power);
}

Matrix normal_table(std::size_t rows, std::size_t cols) {
  Random random(7);
  Matrix table = random_matrix(random, rows, cols, 1);
  for (std::size_t id = 0; id < rows; ++id) {
    const float size = 0.01F * static_cast<float>(1 + id % 20);
    for (std::size_t c = 0; c < cols; ++c) {
      float sum = 0;  // of 6 uniform values: nearly normal
      for (int i = 0; i < 6; ++i) sum += random.next();
      table.data[id * cols + c] = size * sum;
    }
  }
  return table;
}

TEST(Words4Bit, DecodeToTheTable) {
  for (const std::size_t cols : {384u, 64u, 73u, 5u}) {
    const Matrix table = normal_table(500, cols);
    const QuantizedStack stack = quantize(table);
    EXPECT_TRUE(stack.word_embeddings.empty());
    EXPECT_EQ(stack.record.flags, std::uint32_t{kStackEmbeddings4Bit});
    EXPECT_EQ(stack.embeddings_4bit->rows.size(), 500 * word_row_bytes(cols));
    EXPECT_TRUE(std::ranges::is_sorted(stack.embeddings_4bit->record.levels));
    EXPECT_LT(relative_error(stack, table), 0.082) << cols;  // even steps: 0.090
  }
}

TEST(Words4Bit, BitsDoNotDependOnThreads) {
  const Matrix table = normal_table(3000, 40);
  const QuantizedStack one = quantize(table, 1), three = quantize(table, 3);
  EXPECT_EQ(one.embeddings_4bit->rows, three.embeddings_4bit->rows);
  EXPECT_EQ(one.word_multipliers, three.word_multipliers);
}

// Blocks of 32 values of -8..7 times a scale of either sign, as llama.cpp's Q4_0 has them.
TEST(Words4Bit, ATableThatHad4BitsBeforeLosesLittle) {
  Random random(9);
  Matrix table = random_matrix(random, 400, 96, 1);
  for (std::size_t at = 0; at < table.data.size(); at += 32) {
    const float scale = (0.02F + 0.01F * random.next()) * (random.below(2) == 0 ? 1.0F : -1.0F);
    for (std::size_t i = 0; i < 32; ++i) {
      const auto code = static_cast<float>(random.below(16)) - 8;
      table.data[at + i] = scale * (i == 0 ? -8 : code);
    }
  }
  EXPECT_LT(relative_error(quantize(table), table), 0.006);
}

TEST(Words4Bit, ExtremeRows) {
  Matrix table = normal_table(40, 64);
  std::fill_n(table.data.begin(), 64, 0.0F);
  std::fill_n(table.data.begin() + 64, 64, 32767 * kScale);  // fills 16 bits
  std::fill_n(table.data.begin() + 128, 64, 0.01F * kScale);
  table.data[3 * 64] = 30000 * kScale;  // one value, the other group is tiny
  std::fill_n(table.data.begin() + 3 * 64 + 32, 32, 1e-3F * kScale);
  const QuantizedStack stack = quantize(table);
  for (std::size_t c = 0; c < 64; ++c) {
    EXPECT_EQ(decoded(stack, 64, 0, c), 0.0);
    EXPECT_NEAR(decoded(stack, 64, 1, c) / static_cast<double>(kScale), 32767, 600);
    EXPECT_NEAR(decoded(stack, 64, 2, c) / static_cast<double>(kScale), 0.01, 0.01);
  }
  EXPECT_NEAR(decoded(stack, 64, 3, 0) / static_cast<double>(kScale), 30000, 300);
  for (const std::int32_t multiplier : stack.word_multipliers) {
    EXPECT_GE(multiplier, 0);
    EXPECT_LE(multiplier, kMaxWordMultiplier4Bit);
  }
}

TEST(Words4Bit, ATableOfZeros) {
  Matrix table = normal_table(3, 32);
  std::ranges::fill(table.data, 0.0F);
  const QuantizedStack stack = quantize(table);
  EXPECT_EQ(stack.word_multipliers, std::vector<std::int32_t>(3));
  for (const std::int8_t level : stack.embeddings_4bit->record.levels) EXPECT_GE(level, -127);
}

}  // namespace
}  // namespace embert::test
