// SPDX-License-Identifier: Apache-2.0
// A model with a pruned vocabulary against the whole model: both as blobs, both in integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

#include "converter/model/model_config.hpp"
#include "converter/verify/integer_model.hpp"
#include "converter/vocabulary/kept_ids.hpp"

namespace embert::convert {

struct BlobOfConfig {
  std::span<const std::uint8_t> blob;
  const ModelConfig& config;
};

struct VocabularyPair {
  BlobOfConfig whole, pruned;
  const KeptIds& kept;
};

/// {"texts": n, "changed_texts": n, "tokens_before": x, "tokens_after": x} and, where a text has
/// changed, {"cosine_mean": x, "cosine_min": x}. A text has changed if its tokens are not those of
/// the whole model; tokens are those of a text in the mean over all; cosines are those of the
/// changed texts' vectors (embert_embed) to the vectors of the whole model.
nlohmann::ordered_json compare_vocabularies(const VocabularyPair& pair,
                                            const IntegerModel::Options& options,
                                            std::span<const std::string_view> texts);

}  // namespace embert::convert
