// SPDX-License-Identifier: Apache-2.0
// Declarations of all kernel variants, from the one list.
#pragma once

#include "kernels/contracts/contracts.hpp"
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
