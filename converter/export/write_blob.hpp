// SPDX-License-Identifier: Apache-2.0
// A quantised model as the bytes of a blob: sections in the order and with the alignment of
// runtime/format/FORMAT.md, weights packed, checksum last. The same model gives the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "converter/model/conversion.hpp"
#include "converter/model/prompt_config.hpp"
#include "converter/model/quantized_model.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert::convert {

/// The contents of a blob beside the quantised model.
struct BlobExtras {
  std::uint32_t max_tokens = 0;  ///< default length of a text, special tokens included
  std::uint32_t pooling = kPoolingMean;
  bool normalize = true;
  std::vector<std::uint8_t> tokenizer;    ///< TOKENIZER_FORMAT.md; empty: none
  std::vector<std::string> labels;        ///< one for each class of the classifier
  std::vector<std::string> token_labels;  ///< one for each class of the token classifier
  std::string certificate;                ///< JSON; may be empty
  std::vector<std::uint8_t> selftest;     ///< FORMAT.md, section 7; may be empty
  PromptConfig prompts;
  RhsOrder weight_order = RhsOrder::kN16K4;  ///< of dense layers
};

/// Throws ConvertError for labels that do not fit.
std::vector<std::uint8_t> write_blob(const QuantizedModel& model, const BlobExtras& extras,
                                     BlobSizes* sizes = nullptr);

}  // namespace embert::convert
