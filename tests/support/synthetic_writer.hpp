// SPDX-License-Identifier: Apache-2.0
// Draws the sections of a synthetic blob.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "kernels/arithmetic/layout.hpp"
#include "tests/support/synthetic_blob.hpp"

namespace embert::test {

/// Appends sections behind the header and the section table (FORMAT.md).
class Writer {
 public:
  Writer(const SyntheticModel& model, std::uint32_t sections)
      : weight_order_(model.weight_order),
        bytes_(sizeof(BlobHeader) + sections * sizeof(BlobSection)),
        random_(model.seed) {}

  void enter(std::uint32_t stack, std::uint32_t layer) {
    stack_ = static_cast<std::uint16_t>(stack);
    layer_ = layer;
  }
  void start(std::uint32_t kind) {
    bytes_.resize(round_up(bytes_.size(), kBlobAlignment));
    table_.push_back({static_cast<std::uint16_t>(kind), stack_, layer_, bytes_.size(), 0});
  }
  template <typename T>
  void append(const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    bytes_.insert(bytes_.end(), bytes, bytes + values.size() * sizeof(T));
    table_.back().bytes += values.size() * sizeof(T);
  }
  template <typename... Vectors>
  void add(std::uint32_t kind, const Vectors&... vectors) {
    start(kind);
    (append(vectors), ...);
  }
  template <typename T>
  std::vector<T> random(std::size_t count, std::int64_t lowest, std::int64_t highest) {
    std::uniform_int_distribution<std::int64_t> pick(lowest, highest);
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(pick(random_));
    return values;
  }
  /// Weights [n] x [k] of a dense layer with zero padding, and their column sums.
  std::vector<std::int8_t> weights(std::size_t n, std::size_t k, std::vector<std::int32_t>& sums) {
    return packed(weight_order_, n, k, sums);
  }
  /// Draws weights and packs them in an order, as the table of relative positions has one of its
  /// own.
  std::vector<std::int8_t> packed(RhsOrder order, std::size_t n, std::size_t k,
                                  std::vector<std::int32_t>& sums) {
    const std::size_t inputs = pad_inputs(k);
    std::vector<std::int8_t> packed(pad_columns(n) * inputs, 0);
    sums.assign(pad_columns(n), 0);
    std::uniform_int_distribution<int> pick(-127, 127);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t c = 0; c < k; ++c) {
        const int value = pick(random_);
        packed[rhs_index(order, j, c, inputs)] = static_cast<std::int8_t>(value);
        sums[j] += value;
      }
    }
    return packed;
  }
  std::vector<std::uint8_t> take() {
    std::memcpy(bytes_.data() + sizeof(BlobHeader), table_.data(),
                table_.size() * sizeof(BlobSection));
    return std::move(bytes_);
  }

 private:
  RhsOrder weight_order_;
  std::vector<std::uint8_t> bytes_;
  std::vector<BlobSection> table_;
  std::uint16_t stack_ = 0;
  std::uint32_t layer_ = 0;
  std::mt19937_64 random_;
};

struct Factor {
  std::int32_t multiplier;
  BlobShifts shifts;
};

/// A real factor as multiplier and shifts.
inline Factor encode(double factor) {
  int exponent = 0;
  const double mantissa = std::frexp(factor, &exponent);  // [0.5, 1)
  const auto multiplier =
      static_cast<std::int32_t>(std::min(mantissa * 2147483648.0, 2147483647.0));
  return {multiplier, {exponent > 0 ? exponent : 0, exponent > 0 ? 0 : -exponent}};
}

/// Standard deviation of a sum of k products of two uniform bytes, one of them 8 bits wide, the
/// other `width`.
inline double sum_spread(std::size_t k, double width) {
  return std::sqrt(static_cast<double>(k)) * 73.0 * width;
}

/// Behind bytes that are there.
template <typename T>
void append_bytes(std::vector<std::uint8_t>& bytes, const std::vector<T>& values) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(values.data());
  bytes.insert(bytes.end(), data, data + values.size() * sizeof(T));
}

/// The sections of kStackBottleneck and of kStackWordProjection (synthetic_bottleneck.cpp).
void add_bottleneck_sections(const SyntheticModel& m, Writer& draws,
                             std::vector<SyntheticSection>& sections);
void add_word_projection(const SyntheticModel& m, Writer& draws,
                         std::vector<SyntheticSection>& sections);

}  // namespace embert::test
