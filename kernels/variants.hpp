// SPDX-License-Identifier: Apache-2.0
// Declarations of all kernel variants, from the one list.
#pragma once

#include "kernels/contracts/activation.hpp"
#include "kernels/contracts/context.hpp"
#include "kernels/contracts/convert_rows.hpp"
#include "kernels/contracts/crc32c.hpp"
#include "kernels/contracts/dense.hpp"
#include "kernels/contracts/dot_rows.hpp"
#include "kernels/contracts/embedding.hpp"
#include "kernels/contracts/gate.hpp"
#include "kernels/contracts/gemm.hpp"
#include "kernels/contracts/layernorm.hpp"
#include "kernels/contracts/qkv.hpp"
#include "kernels/contracts/quantize.hpp"
#include "kernels/contracts/residual.hpp"
#include "kernels/contracts/rotary.hpp"
#include "kernels/contracts/scores.hpp"
#include "kernels/contracts/softmax.hpp"
#include "kernels/processor.hpp"

namespace embert {

template <typename Fn>
struct KernelSignature;
template <typename R, typename... A>
struct KernelSignature<R (*)(A...)> {
  using type = R(A...);
};

#define EMBERT_KERNEL(operation, type_name, function, isa) \
  KernelSignature<type_name>::type function;
#include "kernels/variants.inc"
#undef EMBERT_KERNEL

}  // namespace embert
