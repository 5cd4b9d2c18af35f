// SPDX-License-Identifier: Apache-2.0
// How a sentence-transformers folder turns token vectors into one vector: modules.json, the pooling
// module's config.json and sentence_bert_config.json. All are optional.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "converter/convert_error.hpp"

namespace embert::convert {

enum class PoolingKind { kMean, kCls, kMax };
const char* pooling_kind_name(PoolingKind kind);

/// Without modules.json: mean over all tokens and L2 normalisation, in the folder itself.
struct PoolingConfig {
  PoolingKind kind = PoolingKind::kMean;
  bool normalize = true;
  /// Of the Transformer module, relative to the model folder; config.json, weights and tokenizer
  /// lie there. Usually empty: the model folder itself.
  std::string transformer_folder;
  std::optional<int> max_seq_length;  ///< of sentence_bert_config.json, special tokens included
  std::string pooling_file;           ///< the pooling module's config.json; empty: there is none
  int vector_size = 0;                ///< what that file says of the hidden size; 0: nothing
};

/// Throws ConvertError.
PoolingConfig read_pooling(const std::filesystem::path& folder);

}  // namespace embert::convert
