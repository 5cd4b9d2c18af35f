// SPDX-License-Identifier: Apache-2.0
// The optional sections of a model (BlobOptionalKind), each with the bit of the header that demands
// it.
#pragma once

#include <cstdint>
#include <vector>

#include "converter/model/prompt_config.hpp"
#include "converter/model/quantized_model.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert::convert {

struct OptionalSection {
  std::uint32_t kind, layer;
  std::vector<std::uint8_t> bytes;
};

/// In the order of the blob. order: of the weights of dense layers.
std::vector<OptionalSection> optional_sections(const QuantizedModel& model,
                                               const PromptConfig& prompts, RhsOrder order);

/// The bits of BlobHeader::task_heads that have an optional section.
std::uint32_t section_bits(const QuantizedModel& model);

}  // namespace embert::convert
