// SPDX-License-Identifier: Apache-2.0
// The test that a blob carries for the power-on self-test of a device (FORMAT.md, section 7).
#pragma once

#include "converter/export/write_blob.hpp"
#include "converter/model/model_config.hpp"
#include "converter/reference/float_model.hpp"

namespace embert::convert {

/// What BlobExtras::selftest holds for a model with these extras: a text, or ids where the
/// tokenizer or the vocabularies allow none, and the checksum of what scalar kernels make of it.
/// Empty for a lone decoder with cross-attention: its sources are the caller's.
std::vector<std::uint8_t> make_selftest(const QuantizedModel& model, const ModelConfig& config,
                                        BlobExtras extras);

}  // namespace embert::convert
