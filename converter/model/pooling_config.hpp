// SPDX-License-Identifier: Apache-2.0
// How a sentence-transformers model turns token vectors into one vector. read_pooling()
// (import/config/read_pooling.hpp) fills it in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/format/blob_format.hpp"

namespace embert::convert {

enum class PoolingKind : std::uint32_t {
  kMean = kPoolingMean,
  kCls = kPoolingCls,
  kMax = kPoolingMax
};

/// The defaults are those of a folder without modules.json: mean over all tokens, L2-normalised.
struct PoolingConfig {
  PoolingKind kind = PoolingKind::kMean;
  bool normalize = true;
  /// The Transformer module's folder, relative to the model folder: config.json, weights and
  /// tokenizer lie there. Usually empty, which is the model folder itself.
  std::string transformer_folder;
  std::optional<int> max_seq_length;  ///< of sentence_bert_config.json, special tokens included
  std::string pooling_file;           ///< the pooling module's config.json; empty: there is none
  int vector_size = 0;                ///< of a vector, as that file says; 0: not stated
};

}  // namespace embert::convert
