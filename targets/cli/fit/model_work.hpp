// SPDX-License-Identifier: Apache-2.0
// The work of one text: how often a model does what takes instructions. Multiplied with the
// instructions that each kind takes (kernel_sets.hpp) it estimates a count without running.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "targets/cli/tool_error.hpp"
#include "targets/hosted/line_text.hpp"
#include "targets/hosted/model/model_file.hpp"

namespace embert::cli {

/// q rows of a layer, T tokens; H hidden size, W heads * head size, I feed-forward width.
enum WorkKind : size_t {
  kMultiplyAdds,     ///< of all matrix products, in whole panels
  kBlockReads,       ///< weights, keys and values that a product reads for each 32 rows
  kPairReads,        ///< the same for each 2 rows: the smallest tiles
  kProjectedValues,  ///< queries, keys and values: 2 T W + q W
  kScores,           ///< heads q T
  kScoreRows,        ///< heads q
  kResidualValues,   ///< 2 q H
  kActivations,      ///< q I
  kHeadBlocks,       ///< heads and blocks of 32 tokens
  kEmbeddedValues,   ///< T H
  kHeadWeights,      ///< of pooler and classifier
  kTexts,            ///< 1
  kRestReads,        ///< the same as kBlockReads for rows that are left of tiles of 4
  kJoinedValues,     ///< values of products with inputs of two planes
  kWorkKinds
};

using ModelWork = std::array<double, kWorkKinds>;

/// An opened model, from a file or new from a folder.
struct FitModel {
  const embert_model* model;
  std::span<const uint8_t> blob;  ///< of which it was opened
  uint32_t tokens;                ///< longest text
};

/// The work of one text of model.tokens tokens, from ids to the logits of a classifier or to the
/// vector. A product with an input of 16 bits counts twice, once for each of its planes. Nothing
/// for models whose work is not that of a BERT encoder: decoders, pairs, static embeddings and
/// bottlenecks.
std::optional<ModelWork> work_of(const FitModel& model);

/// {name: number, ...}
Json work_json(const ModelWork& work);

}  // namespace embert::cli
