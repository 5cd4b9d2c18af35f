// SPDX-License-Identifier: Apache-2.0
// Small tokenizer.json documents with the settings that the readers know.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace embert::fuzz {

std::vector<nlohmann::json> wordpiece_documents();
std::vector<nlohmann::json> unigram_documents();
std::vector<nlohmann::json> byte_pair_documents();

}  // namespace embert::fuzz
