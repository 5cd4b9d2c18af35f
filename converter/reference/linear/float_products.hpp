// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace embert::convert {

/// How a float model multiplies. Neither depends on the number of threads or rows.
enum class FloatProducts {
  kSameEverywhere,  ///< matrix_product.hpp: what decides a byte of a blob
  kXnnpack,         ///< faster where the processor has fused multiply-adds; bits follow it
};

}  // namespace embert::convert
