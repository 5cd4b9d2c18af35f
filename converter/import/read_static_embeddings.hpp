// SPDX-License-Identifier: Apache-2.0
// Static embeddings: a table of vectors, of which the mean over a text's tokens is its vector.
// Folders of model2vec (Tulkens and van Dongen 2024) and StaticEmbedding modules of
// sentence-transformers.
#pragma once

#include <filesystem>

#include "converter/import/read_model_folder.hpp"

namespace embert::convert {

/// Whether config.json is one of model2vec. Its modules.json names StaticEmbedding, which does not
/// know weights, mapping and dropped tokens: so config.json decides.
bool is_model2vec_folder(const std::filesystem::path& folder);

/// Fills in pooling, config and weights of such a folder: one stack without layers, whose word
/// embeddings have weights and mapping applied. Throws ConvertError.
void read_model2vec(const std::filesystem::path& folder, ModelFolder& out);

/// Fills in config and weights from out.transformer_folder, the folder of a StaticEmbedding module.
/// The caller has read out.pooling. Throws ConvertError.
void read_static_module(ModelFolder& out);

}  // namespace embert::convert
