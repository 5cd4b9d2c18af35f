// SPDX-License-Identifier: Apache-2.0
// Declarations of all kernel variants, from the one list.
#pragma once

#include "kernels/attention_scores.hpp"
#include "kernels/crc32c.hpp"
#include "kernels/dense_rows.hpp"
#include "kernels/dot_rows.hpp"
#include "kernels/embedding.hpp"
#include "kernels/gemm.hpp"
#include "kernels/hidden_rows.hpp"
#include "kernels/layernorm.hpp"
#include "kernels/quantize.hpp"
#include "kernels/requantize.hpp"
#include "kernels/softmax.hpp"

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
