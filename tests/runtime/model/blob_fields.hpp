// SPDX-License-Identifier: Apache-2.0
// A synthetic blob. Tests change its fields one by one.
#pragma once

#include <stdexcept>
#include <string>

#include "kernels/arithmetic/layout.hpp"
#include "tests/runtime/engine/engine_session.hpp"

namespace embert::test {

/// The shape of the models whose fields are changed; columns and inputs need padding.
inline SyntheticModel small_model() {
  SyntheticModel model;
  model.hidden_size = 20;
  model.num_heads = 2;
  model.head_size = 10;
  model.intermediate_size = 24;
  model.vocab_size = 12;
  model.max_positions = 8;
  return model;
}

class BlobFields : public testing::Test {
 protected:
  explicit BlobFields(const SyntheticModel& model) : blob_(make_synthetic_blob(model)) {}

  BlobHeader& header() { return *reinterpret_cast<BlobHeader*>(blob_.data()); }
  BlobSection& section(std::uint32_t kind, std::uint32_t layer = 0, std::uint32_t stack = 0) {
    auto* table = reinterpret_cast<BlobSection*>(blob_.data() + sizeof(BlobHeader));
    for (std::uint32_t i = 0; i < header().section_count; ++i) {
      if (table[i].kind == kind && table[i].layer == layer && table[i].stack == stack) {
        return table[i];
      }
    }
    throw std::logic_error("no such section");
  }
  template <typename T>
  T* contents(std::uint32_t kind, std::uint32_t layer = 0, std::uint32_t stack = 0) {
    return reinterpret_cast<T*>(blob_.data() + section(kind, layer, stack).offset);
  }
  /// An s32 part [columns] behind the weights of a dense section; index 0 is the first one.
  static std::int32_t* behind_weights(std::int8_t* weights, std::size_t n, std::size_t k,
                                      std::size_t index) {
    const std::size_t columns = pad_columns(n);
    return reinterpret_cast<std::int32_t*>(weights + columns * pad_inputs(k)) + index * columns;
  }
  embert_status open(bool seal = true) {
    if (seal) seal_blob(blob_.data(), blob_.size());
    embert_model model;
    return embert_model_open(blob_.data(), blob_.size(), EMBERT_ISA_SCALAR, &model);
  }
  /// Sets a field, expects the status, and restores it.
  template <typename T, typename V>
  void expect(T& field, V value, embert_status status, const char* what) {
    const T good = field;
    field = static_cast<T>(value);
    EXPECT_EQ(embert_status_name(open()), std::string(embert_status_name(status)))
        << what << " = " << value;
    field = good;
  }
  template <typename T, typename V>
  void bad_value(T& field, V value, const char* what) {
    expect(field, value, EMBERT_STATUS_BLOB_VALUE, what);
  }

  // Values of every part of a section.
  void expect_dense(std::int8_t* weights, std::size_t n, std::size_t k) {
    bad_value(*weights, -128, "weight");
    bad_value(*behind_weights(weights, n, k, 0), 1 << 30, "bias");
    bad_value(*behind_weights(weights, n, k, 0), -(1 << 30), "bias");
    std::int32_t* sums = behind_weights(weights, n, k, 1);
    bad_value(*sums, *sums + 1, "sum");
    bad_value(*behind_weights(weights, n, k, 2), -1, "multiplier");
  }
  void expect_residual_dense(std::int8_t* weights, std::size_t n, std::size_t k) {
    bad_value(*weights, -128, "weight");
    std::int32_t* sums = behind_weights(weights, n, k, 0);
    bad_value(*sums, *sums + 1, "sum");
    bad_value(*behind_weights(weights, n, k, 1), -1, "multiplier");
    bad_value(*behind_weights(weights, n, k, 2), 1 << 29, "residual multiplier");
    bad_value(*behind_weights(weights, n, k, 3), (1 << 28) - (1 << 19) + 1, "constant");
  }
  void expect_norm(std::int32_t* gain, std::size_t size) {
    bad_value(*gain, INT32_MIN, "gain");
    bad_value(gain[size], 1 << 29, "norm bias");
    bad_value(gain[size], -(1 << 29), "norm bias");
  }
  void expect_scores(std::uint32_t* multipliers, std::size_t heads) {
    bad_value(multipliers[0], 0u, "score multiplier");
    bad_value(multipliers[0], (1u << 31) + 1, "score multiplier");
    bad_value(multipliers[heads], 1u << 31, "distance cap");
    bad_value(multipliers[heads], static_cast<std::uint32_t>(INT32_MAX), "distance cap");
    bad_value(multipliers[heads], multipliers[heads] / 2, "distance cap of a large exponential");
    const std::uint32_t good = multipliers[0];
    multipliers[0] = 3;
    bad_value(multipliers[heads], kMaxScoreCap + 1, "distance cap beyond masked scores");
    multipliers[0] = good;
  }
  void expect_shifts(BlobShifts& shifts) {
    const BlobShifts good = shifts;
    shifts = {0, 0};
    bad_value(shifts.left, -1, "left");
    bad_value(shifts.left, 16, "left");
    bad_value(shifts.right, -1, "right");
    bad_value(shifts.right, 32, "right");
    shifts.right = 1;
    bad_value(shifts.left, 1, "left beside right");
    shifts = good;
  }
  void expect_norm_record(BlobNorm& record) {
    bad_value(record.epsilon_n2, -1, "epsilon_n2");
    bad_value(record.epsilon_n2, (std::int64_t{1} << 54) + 1, "epsilon_n2");
    bad_value(record.shift, 7, "shift");
    bad_value(record.shift, 39, "shift");
    bad_value(record.reserved, 1u, "reserved");
  }

  AlignedBytes blob_;
};

}  // namespace embert::test
