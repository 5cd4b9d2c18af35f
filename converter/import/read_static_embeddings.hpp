// SPDX-License-Identifier: Apache-2.0
// Static embeddings: a table of vectors, of which the mean over a text's tokens is its vector.
// Folders of model2vec (Tulkens and van Dongen 2024) and StaticEmbedding modules of
// sentence-transformers.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "converter/import/read_model_folder.hpp"

namespace embert::convert {

/// Whether config.json has model_type or architecture of model2vec, or modules.json begins with
/// StaticEmbedding.
bool is_static_folder(const std::filesystem::path& folder);

/// Reads such a folder; ModelFolder::config has one stack without layers, and its word embeddings
/// have weights and mapping applied. Throws ConvertError.
ModelFolder read_static_folder(const std::filesystem::path& folder);

}  // namespace embert::convert
