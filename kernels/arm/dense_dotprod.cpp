// SPDX-License-Identifier: Apache-2.0
// Packed rows of SDOT.
#include "kernels/arm/dense_packed.hpp"
#include "kernels/arm/gemm_dotprod.hpp"

namespace embert {
namespace {

class Rows {
 public:
  static bool fit(const GemmArgs& args) { return args.m * args.k <= kDotprodBytes; }
  explicit Rows(const GemmArgs& args) : args_(args) { dotprod_pack_rows(args, packed_); }
  size_t columns() const { return kDotprodColumns; }
  void multiply(size_t j, size_t n) { dotprod_multiply(args_, packed_, j, n, args_.dst); }

 private:
  const GemmArgs& args_;
  int32_t packed_[kDotprodBytes / sizeof(int32_t)];
};

}  // namespace

size_t dense_activation_dotprod(const DenseActivationArgs& args) {
  return dense_activation<Rows>(args);
}
size_t dense_residual_dotprod(const DenseResidualArgs& args) { return dense_residual<Rows>(args); }

}  // namespace embert
