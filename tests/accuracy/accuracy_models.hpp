// SPDX-License-Identifier: Apache-2.0
// The models and texts that the accuracy tests share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "converter/quantize/rounding/gptq.hpp"
#include "tests/support/test_corpora.hpp"

namespace embert::test {

inline constexpr int kAccuracyThreads = 2;

/// Whether EMBERT_FULL is set: tests run whole corpora instead of samples.
bool full_tests();

/// Converts a folder, calibrated on the built-in text.
std::vector<std::uint8_t> convert_folder(const std::filesystem::path& folder,
                                         convert::Rounding rounding);

std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path);

/// The bundled intent model.
std::filesystem::path intent_folder();

struct LabelledText {
  std::string text;
  std::string label;      ///< the right one
  std::string predicted;  ///< by the float model, as its authors ran it
};
/// The CLINC150 test sentences of the repository, those out of scope last.
std::vector<LabelledText> intent_test_texts();

/// Whether all four corpora are there.
bool shared_data_present();
/// The texts of texts.tsv.
std::vector<ListedText> listed_texts();

}  // namespace embert::test
