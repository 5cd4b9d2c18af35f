// SPDX-License-Identifier: Apache-2.0
// Of kernel_emulated_test alone, whose AVX-VNNI, AVX-512 and AMX kernels run on any x86-64
// processor.
#include <gtest/gtest.h>

#include "kernels/dispatch.hpp"
#include "kernels/processor.hpp"
#include "tests/kernels/kernel_variants.hpp"

namespace embert {
namespace {

constexpr uint32_t kEmulated = kIsaAvxVnni | kIsaAvx512FreePipes | kIsaAmxInt8;

const bool announced = announce_kernels("emulated:", kEmulated);

TEST(Emulated, EveryIsaExtensionButAvx2) {
  EXPECT_EQ(compiled_isas(), kEmulated | kIsaAvx2) << "a new one belongs into emulated.cmake, too";
  EXPECT_EQ(runnable_isas() & kEmulated, kEmulated);
}

}  // namespace
}  // namespace embert
