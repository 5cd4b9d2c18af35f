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
// Right operand, n8k16: the weights of a model that was converted for processors with i8mm. SMMLA
// multiplies 2 columns x 8 inputs of a register, so its kernels have to reorder n16k4 for each
// block of rows. A panel has its inputs in groups of 16, first those of columns 0-7, then those of
// columns 8-15. In a group there are 2 steps of 8 inputs, in a step 4 registers:
//
//   columns 0-7:  [group 0: c0 k0..7, c4 k0..7, c1 k0..7, c5 k0..7, ... c7 k0..7, c0 k8..15, ...]
//   columns 8-15: [group 0: c8 k0..7, c12 k0..7, ...]
//
// Inputs behind the last whole group follow as steps of n16k4. So a panel has as many bytes.
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

/// Orders of the right operand. Kernels of i8mm read both, all others n16k4.
enum class RhsOrder : uint8_t { kN16K4, kN8K16 };
/// Whether a kernel of this build reads n8k16, and whether it opens such a model: desktops do, to
/// look at it.
static constexpr bool kHasN8K16 = EMBERT_AARCH64 != 0;
static constexpr bool kOpensN8K16 = kHasN8K16 || EMBERT_X86 != 0;

static constexpr size_t kHalfColumns = 8;  ///< of a panel
static constexpr size_t kGroupInputs = 16;

/// Byte index of (column n, input k) in an n8k16 matrix with k_padded inputs.
static constexpr size_t n8k16_index(size_t n, size_t k, size_t k_padded) {
  const size_t grouped = k_padded / kGroupInputs * kGroupInputs;
  if (k >= grouped) return n16k4_index(n, k, k_padded);
  const size_t column = n % kHalfColumns, pair = column % 4, second = column / 4;
  return n / kPanelColumns * kPanelColumns * k_padded +
         n % kPanelColumns / kHalfColumns * kHalfColumns * grouped + k / 8 * 8 * kHalfColumns +
         pair * 16 + second * 8 + k % 8;
}

static constexpr size_t rhs_index(RhsOrder order, size_t n, size_t k, size_t k_padded) {
  return order == RhsOrder::kN8K16 ? n8k16_index(n, k, k_padded) : n16k4_index(n, k, k_padded);
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
