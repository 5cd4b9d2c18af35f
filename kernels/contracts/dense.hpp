// SPDX-License-Identifier: Apache-2.0
// Contract of a dense layer in one step: the GEMM, and the requantisation of its sums. Only some
// ISA extensions have it, for some shapes; the same bits come from the two steps. Dotprod and I8MM
// pack the rows of the input once, not once for each GEMM of as many columns as the accumulators
// hold: 0.9 % and 1.2 % fewer instructions of a pass of MiniLM at 128 tokens. AVX512-VNNI
// requantises the sums of one tile beside the products of the next, which pays where the products
// leave vector pipes free. On AMD, where products use two of four pipes, a pass of MiniLM takes
// less time: 1.0 % at 16 tokens, 0.5 % at 128, 0.4 % at 512 on Zen 4, 1.6 % at 128 and 2.5 % at 512
// on Zen 5. On an Intel Xeon (family 6, model 207) products fill both 512-bit pipes, and two steps
// take less time: by 1.4 % at 16 tokens, 5.2 % at 128, 3.5 % at 512. So the variant belongs to
// kIsaAvx512FreePipes.
#pragma once

#include <stddef.h>

#include "kernels/contracts/activation.hpp"
#include "kernels/contracts/gemm.hpp"
#include "kernels/contracts/residual.hpp"
#include "kernels/processor.hpp"

namespace embert {

/// Some ISA extension of this processor family has a variant. Elsewhere nobody need ask.
inline constexpr bool kHasDenseStep = EMBERT_X86 != 0 || EMBERT_AARCH64 != 0;

/// gemm(product), then requantize_activation(activation) of its sums, for as many columns as the
/// variant takes. Returns their number: 0, another multiple of 32, or activation.n; the caller does
/// the columns behind them in two steps. product.planes is 1, product.m = activation.m, product.n =
/// pad_columns(activation.n). product.dst is scratch [m][dst_stride] with dst_stride >= 64.
/// activation.acc and its stride are not read; activation.dst overlaps neither scratch nor
/// product.lhs.
struct DenseActivationArgs {
  GemmArgs product;
  RequantizeActivationArgs activation;
};
using DenseActivationFn = size_t (*)(const DenseActivationArgs&);

/// As DenseActivationArgs, with requantize_residual(residual) in place of the activation.
struct DenseResidualArgs {
  GemmArgs product;
  RequantizeResidualArgs residual;
};
using DenseResidualFn = size_t (*)(const DenseResidualArgs&);

}  // namespace embert
