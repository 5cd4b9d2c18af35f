// SPDX-License-Identifier: Apache-2.0
// Packed rows of SMMLA, all in one chunk.
#include "kernels/arm/dense_packed.hpp"
#include "kernels/arm/gemm_i8mm.hpp"

namespace embert {
namespace {

class Rows {
 public:
  // For a single row, packing does not pay.
  static bool fit(const GemmArgs& args) {
    return args.m > 1 && args.m <= kI8mmRows && args.k <= i8mm_most_inputs(args.m);
  }
  explicit Rows(const GemmArgs& args) : args_(args), all_{0, args.m, 0, args.k, packed_} {
    i8mm_pack_rows(args, all_);
  }
  size_t columns() const { return i8mm_most_columns(all_); }
  void multiply(size_t j, size_t n) { i8mm_multiply(args_, all_, j, n, args_.dst); }

 private:
  const GemmArgs& args_;
  alignas(64) int8_t packed_[kI8mmBytes];
  I8mmChunk all_;
};

}  // namespace

size_t dense_activation_i8mm(const DenseActivationArgs& args) {
  return dense_activation<Rows>(args);
}
size_t dense_residual_i8mm(const DenseResidualArgs& args) { return dense_residual<Rows>(args); }

}  // namespace embert
