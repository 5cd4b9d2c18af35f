// SPDX-License-Identifier: Apache-2.0
// Relative positions: products of queries and keys with the embeddings of their distance (Shaw et
// al. 2018, eq. 4; Huang et al. 2020, method 4), or a bias for each distance.
#pragma once

#include "runtime/engine/run.hpp"

namespace embert {

struct HeadTask;
struct KvView;

/// A block of a head's queries and their scores.
struct ScoreBlock {
  size_t row, m;         ///< queries row .. row + m - 1 of the text
  const uint8_t* query;  ///< [m][K(D)]
  int32_t* scores;       ///< [m][N(keys)], row stride `stride`
  size_t stride;         ///< elements
};

/// Adds the relative positions to a block of scores: column P - 1 + key position - query position.
void add_relative_positions(const Run& run, const RelativePositions& relative, const HeadTask& at,
                            const ScoreBlock& block, const KvView& kv);

}  // namespace embert
