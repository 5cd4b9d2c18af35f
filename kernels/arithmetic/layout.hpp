// SPDX-License-Identifier: Apache-2.0
// The memory order of a GEMM's right operand, n16k4: panels of 16 columns (output channels), within
// a panel steps of 4 consecutive inputs, within a step the 16 columns, each with its 4 inputs side
// by side:
//
//   panel 0: [step 0: c0 k0..3, c1 k0..3, ... c15 k0..3] [step 1: c0 k4..7, ...] ...   panel 1: ...
//
// 64 bytes a step: one 512-bit register for VPDPBUSD, two 256-bit ones, four 128-bit ones for SDOT
// by lane. Columns are padded to 16 and inputs to 4, with zeros in weights. Keys and values of
// attention are written in the same order at run time, so that one GEMM serves everything.
#pragma once

#include <stddef.h>

namespace embert {

static constexpr size_t kPanelColumns = 16;
static constexpr size_t kStepInputs = 4;
static constexpr size_t kStepBytes = kPanelColumns * kStepInputs;  ///< of a panel

/// In size_t, or in the type of x where that is wider.
template <typename T>
static constexpr auto round_up(T x, size_t multiple) {
  return (x + multiple - 1) / multiple * multiple;
}
template <typename T>
static constexpr auto pad_columns(T n) {
  return round_up(n, kPanelColumns);
}
template <typename T>
static constexpr auto pad_inputs(T k) {
  return round_up(k, kStepInputs);
}

/// Byte index of (column n, input k) in an n16k4 matrix with k_padded inputs.
static constexpr size_t n16k4_index(size_t n, size_t k, size_t k_padded) {
  return n / kPanelColumns * kPanelColumns * k_padded +
         k / kStepInputs * kPanelColumns * kStepInputs + n % kPanelColumns * kStepInputs +
         k % kStepInputs;
}

}  // namespace embert
