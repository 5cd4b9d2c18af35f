// SPDX-License-Identifier: Apache-2.0
// How a sentence-transformers model turns token vectors into one vector. read_pooling()
// (import/config/read_pooling.hpp) fills it in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"
#include "runtime/format/blob_format.hpp"

namespace embert::convert {

enum class PoolingKind : std::uint32_t {
  kMean = kPoolingMean,
  kCls = kPoolingCls,
  kMax = kPoolingMax,
  kMeanSqrtLength = kPoolingMeanSqrtLength,  ///< sum / sqrt(length)
  kWeightedMean = kPoolingWeightedMean,      ///< token i, counted from 1, has weight i
  kLastToken = kPoolingLastToken
};

/// A Dense module: activation(weight x + bias), where x is normalised first if asked for.
struct VectorDense {
  Linear linear;
  std::optional<HiddenAct> activation;  ///< none: identity
  bool normalize_input = false;
  std::string name;  ///< the module's folder
};

/// The defaults are those of a folder without modules.json: mean over all tokens, L2-normalised.
struct PoolingConfig {
  std::vector<PoolingKind> kinds = {PoolingKind::kMean};  ///< side by side in the vector
  std::vector<VectorDense> dense{};                       ///< behind pooling
  bool normalize = true;                                  ///< at the end
  bool is_static = false;                                 ///< the first module is StaticEmbedding
  /// The Transformer module's folder, relative to the model folder: config.json, weights and
  /// tokenizer lie there. Usually empty, which is the model folder itself.
  std::string transformer_folder;
  std::string sequence_file;  ///< the Transformer module's own file, which says the next two
  std::optional<int> max_seq_length;  ///< special tokens included
  bool lowercases_texts = false;      ///< before the tokenizer
  std::string pooling_file;           ///< the pooling module's config.json; empty: there is none
  int pooled_size = 0;                ///< of one pooling, as that file says; 0: not stated

  /// Whether the blob needs a BlobVector.
  bool is_one_pooling() const {
    return kinds.size() == 1 && dense.empty() &&
           static_cast<std::uint32_t>(kinds[0]) < kPoolingCount;
  }
  std::size_t vector_size(std::size_t hidden_size) const {
    return dense.empty() ? kinds.size() * hidden_size : dense.back().linear.weight.rows;
  }
};

}  // namespace embert::convert
