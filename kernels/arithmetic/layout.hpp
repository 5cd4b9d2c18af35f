// SPDX-License-Identifier: Apache-2.0
// How both operands of a GEMM lie in memory.
//
// Right operand, n16k4: panels of 16 columns (output channels), within a panel steps of 4
// consecutive inputs, within a step the 16 columns, each with its 4 inputs side by side:
//
//   panel 0: [step 0: c0 k0..3, c1 k0..3, ... c15 k0..3] [step 1: c0 k4..7, ...] ...   panel 1: ...
//
// A step is 64 bytes: one 512-bit register for VPDPBUSD, two of 256 bits, four of 128 bits for SDOT
// by lane. Columns are padded to 16 and inputs to 4, with zeros in weights. Attention writes its
// keys and values in the same order at run time, so one GEMM serves everything.
//
// Left operand: row-major, one byte a value. VPDPBUSD multiplies unsigned by signed bytes; SDOT,
// SMLAL and VMLADAVA multiply two signed ones. So the bytes are stored as the target's instructions
// read them: a signed value s as s ^ kSignedLhsFlip, an unsigned value u as u ^ kUnsignedLhsFlip.
// The flip adds a constant to each value; the GEMM subtracts its product with the column sums of
// the right operand, which is exact.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/processor.hpp"

namespace embert {

static constexpr size_t kPanelColumns = 16;
static constexpr size_t kStepInputs = 4;
static constexpr size_t kStepBytes = kPanelColumns * kStepInputs;  ///< of one panel

/// The next multiple of multiple, in size_t or in the type of x where that is wider.
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

/// Rows of a matrix, stride elements apart.
template <typename T>
struct MatrixView {
  T* data;
  size_t stride;
};

/// The values of a left operand: signed or unsigned 8-bit integers.
enum class LhsType : uint8_t { kSigned, kUnsigned };
static constexpr uint8_t kSignedLhsFlip = EMBERT_X86 ? 0x80 : 0x00;
static constexpr uint8_t kUnsignedLhsFlip = EMBERT_X86 ? 0x00 : 0x80;

/// The GEMM adds this, times the column sum, to undo the flip.
static constexpr int32_t lhs_correction(LhsType type) {
  constexpr int32_t kOfSigned = EMBERT_X86 ? -128 : 0, kOfUnsigned = EMBERT_X86 ? 0 : 128;
  return type == LhsType::kSigned ? kOfSigned : kOfUnsigned;
}

}  // namespace embert
