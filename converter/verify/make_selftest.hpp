// SPDX-License-Identifier: Apache-2.0
// The test that a blob carries for the power-on self-test of a device (FORMAT.md, section 7).
#pragma once

#include <cstdint>
#include <vector>

#include "converter/export/write_blob.hpp"
#include "converter/model/model_config.hpp"

namespace embert::convert {

/// BlobExtras::selftest of a model with these extras: a text, or ids where the tokenizer or the
/// vocabularies allow no text, and the checksum of the scalar kernels' results. Empty for a lone
/// decoder with cross-attention, because its sources come from the caller.
std::vector<std::uint8_t> make_selftest(const QuantizedModel& model, const ModelConfig& config,
                                        BlobExtras extras);

}  // namespace embert::convert
