// SPDX-License-Identifier: Apache-2.0
#include "converter/calibrate/observe_batch.hpp"

#include <cstdint>

#include "converter/calibrate/row_sample.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/reference/float_model.hpp"
#include "converter/reference/forward_output.hpp"

namespace embert::convert {
namespace {

// Texts that go through the float model in one call: bounds the memory of its outputs.
constexpr std::size_t kTextsPerPass = 64;

}  // namespace

void observe_batch(FloatModel& model, const ModelBatch& batch, std::size_t lm_rows,
                   const Observer& observer) {
  const RowSelection asked(batch.texts.ids.size(), lm_rows);
  std::size_t token = 0;
  for (const ModelBatch& part : cut_batch(batch, kTextsPerPass)) {
    ForwardOptions options;
    for (std::size_t row = 0; row < part.texts.ids.size(); ++row, ++token) {
      if (asked.keeps(token)) options.lm_rows.push_back(static_cast<std::int32_t>(row));
    }
    model.forward_batch(part, &observer, options);
  }
}

}  // namespace embert::convert
