// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/attention/local_attention.hpp"

#include "kernels/arithmetic/layout.hpp"
#include "runtime/engine/run.hpp"

namespace embert {

KeyRange local_range(const KvView& kv, size_t reach, size_t own, size_t m) {
  const size_t before = own > reach ? (own - reach) / kPanelColumns * kPanelColumns : 0;
  const size_t end = smaller(own + m + reach, kv.count);
  return 2 * (end - before) <= kv.count ? KeyRange{before, end - before} : KeyRange{0, kv.count};
}

const int32_t* local_sums(const KvView& kv, const KeyRange& keys, size_t columns, int32_t* sums) {
  const size_t steps = pad_inputs(keys.count) / kStepInputs;
  for (size_t panel = 0; panel < 2 * columns; panel += kPanelColumns) {
    const int8_t* step = kv.values + panel * kv.value_inputs + keys.first * kPanelColumns;
    int32_t lanes[kPanelColumns * kStepInputs] = {};
    for (size_t i = 0; i < steps; ++i, step += kPanelColumns * kStepInputs) {
      for (size_t lane = 0; lane < kPanelColumns * kStepInputs; ++lane) lanes[lane] += step[lane];
    }
    for (size_t c = 0; c < kPanelColumns; ++c) {
      const int32_t* of_column = lanes + c * kStepInputs;
      sums[panel + c] = of_column[0] + of_column[1] + of_column[2] + of_column[3];
    }
  }
  return sums;
}

}  // namespace embert
