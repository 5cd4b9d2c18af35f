// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/section_walk.hpp"

namespace embert {
namespace {

// Sums must be the column sums of the weights with their padding. Only some kernels use them, so
// wrong sums would give different bits on different processors.
bool sums_ok(const int8_t* weights, size_t columns, size_t inputs, const int32_t* sums) {
  for (size_t panel = 0; panel < columns; panel += kPanelColumns) {
    int32_t lanes[kPanelColumns * kStepInputs] =
        {};  // one for each byte of a group of 4 inputs, so that the loop vectorises
    for (size_t step = 0; step < inputs / kStepInputs;
         ++step, weights += kPanelColumns * kStepInputs) {
      for (size_t lane = 0; lane < kPanelColumns * kStepInputs; ++lane) {
        lanes[lane] += weights[lane];
      }
    }
    for (size_t column = 0; column < kPanelColumns; ++column) {
      const int32_t* of_column = lanes + column * kStepInputs;
      if (of_column[0] + of_column[1] + of_column[2] + of_column[3] != sums[panel + column]) {
        return false;
      }
    }
  }
  return true;
}

// Adds 8 inputs of half a panel at a time, then the inputs behind the last whole group, which lie
// as in n16k4, and compares the sums of the panel's columns.
bool sums_ok_n8k16(const int8_t* weights, size_t columns, size_t inputs, const int32_t* sums) {
  const size_t grouped = inputs / kGroupInputs * kGroupInputs;
  constexpr size_t kBytes = 8 * kHalfColumns;  // 8 inputs of half a panel
  for (size_t panel = 0; panel < columns; panel += kPanelColumns) {
    int32_t found[kPanelColumns] = {};
    for (size_t half = 0; half < kPanelColumns; half += kHalfColumns) {
      int32_t lanes[kBytes] = {};  // one for each byte, so that the loop vectorises
      for (size_t input = 0; input < grouped; input += 8, weights += kBytes) {
        for (size_t lane = 0; lane < kBytes; ++lane) lanes[lane] += weights[lane];
      }
      for (size_t column = 0; column < kHalfColumns; ++column) {
        const int32_t* of_column = lanes + n8k16_index(column, 0, kGroupInputs);
        for (size_t i = 0; i < 8; ++i) found[half + column] += of_column[i];
      }
    }
    for (size_t input = grouped; input < inputs; input += kStepInputs, weights += kStepBytes) {
      for (size_t i = 0; i < kStepBytes; ++i) found[i / kStepInputs] += weights[i];
    }
    for (size_t column = 0; column < kPanelColumns; ++column) {
      if (found[column] != sums[panel + column]) return false;
    }
  }
  return true;
}

}  // namespace

void Walk::weights(const int8_t* weights, size_t columns, size_t inputs, const int32_t* sums) {
  require_value(all_in<int8_t>(weights, columns * inputs, -127, 127) &&
                sums_ok(weights, columns, inputs, sums));
}

void Walk::weights_n8k16(const int8_t* weights, size_t columns, size_t inputs,
                         const int32_t* sums) {
  require_value(all_in<int8_t>(weights, columns * inputs, -127, 127) &&
                sums_ok_n8k16(weights, columns, inputs, sums));
}

}  // namespace embert
