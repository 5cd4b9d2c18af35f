// SPDX-License-Identifier: Apache-2.0
// The converter as one call: a Hugging Face folder in, the bytes of a blob out. Nothing is printed
// and no file is written (see export/replace_file.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "converter/model/conversion.hpp"
#include "converter/model/prompt_config.hpp"
#include "converter/verify/comparison.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert::convert {

/// Says which tokens of the vocabulary stay (converter/README.md, "Vocabulary"); by default all do.
struct VocabularyOptions {
  /// Texts, one a line, whose tokens stay.
  std::optional<std::filesystem::path> texts;
  std::vector<std::string> scripts;  ///< names of Unicode scripts, such as "Latin"
  std::optional<int> size;

  bool prune() const { return texts || !scripts.empty() || size; }
};

struct ConvertOptions {
  std::filesystem::path folder;
  /// Calibration texts, one a line, instead of the built-in ones; or token ids, one text a line.
  /// Not both.
  std::optional<std::filesystem::path> calibration_texts, calibration_ids;
  Rounding rounding = Rounding::kGptq;
  EmbeddingBits embeddings = EmbeddingBits::k8;
  Precision precision = Precision::kFast;  ///< the tools' default is kBalanced
  /// Of the weights of dense layers in the blob. What is measured does not depend on it.
  RhsOrder weight_order = RhsOrder::kN16K4;
  std::optional<int> max_tokens;
  VocabularyOptions vocabulary;
  int threads = 1;
  /// Kernels that compute the certificate, EMBERT_ISA_*. They do not change the bytes.
  std::uint32_t isa_mask = 0;
  /// Compare with the float model on texts that calibration does not use.
  bool certify = true;
  Progress progress;
};

struct ConvertResult {
  std::vector<std::uint8_t> blob;
  BlobSizes sizes;
  CalibrationSource source = CalibrationSource::kBuiltinText;
  std::size_t calibration_texts = 0, calibration_tokens = 0;
  int max_tokens = 0;
  std::vector<LayerErrors> layers;
  PrecisionReport precision;
  std::vector<Dense16Error> heads;              ///< task heads, and the projection of two stacks
  std::vector<std::vector<InputRange>> ranges;  ///< [layers] as `layers`
  /// Against float32, of the model with all tokens; nothing where texts are missing or certify is
  /// false.
  std::optional<VerifyResult> held_out;
  bool held_out_builtin = false;  ///< on builtin_certificate_texts()
  std::string certificate;        ///< JSON, as in the blob; empty without certify
  PromptConfig prompts;           ///< as in the blob
  std::vector<std::string> warnings;
};

/// Throws ConvertError. The bytes depend on the folder and on the options except threads and
/// isa_mask, on nothing else.
ConvertResult convert(const ConvertOptions& options);

}  // namespace embert::convert
