// SPDX-License-Identifier: Apache-2.0
// Checks the sections behind the required ones (FORMAT.md, section 8) and reads sizes from them.
#pragma once

#include "runtime/model/section_walk.hpp"

namespace embert {

/// Sizes that the checks of the required sections need.
struct StackOptions {
  size_t embedding_size;          ///< E; H without a projection of the sum
  size_t word_size;               ///< W; E without a projection of the words
  BlobBottleneck bottleneck;      ///< checked; without one as the layers of BERT
  const BlobSharedLayer* shared;  ///< [num_layers], checked; null where no layers share
  const BlobPlanes* planes;       ///< [num_layers], not checked; null without planes
  const BlobLayer* layers;        ///< [num_layers]; null before check_stack has seen them
  uint32_t num_layers;

  size_t first_columns(size_t layer) const {
    return planes != nullptr ? planes[layer].first_columns : 0;
  }
  size_t copied_inputs(size_t layer) const {
    return planes != nullptr ? planes[layer].copied_inputs : 0;
  }
  /// The layer whose sections a layer uses.
  size_t owner(size_t layer) const { return shared != nullptr ? shared[layer].layer : layer; }
  /// A layer that uses these scores has exponentials of 14 bits.
  bool exact_scores(size_t layer) const {
    for (size_t l = layer; planes != nullptr && l < num_layers; ++l) {
      if (owner(l) == layer && planes[l].probabilities != kPlanesNone) return true;
    }
    return false;
  }
};

/// Looks ahead in the blob of a stack. Fails where the section of a flag is not there.
StackOptions peek_stack_options(Walk& walk, const BlobStack& stack);

/// Checks the entries behind the required ones; options: those of the last stack. A model of two
/// stacks has no section that needs them. A kind that this reader does not know has any contents.
/// Sections that belong to a bit of the header are there if and only if the bit is set.
void check_optional_sections(Walk& walk, const BlobHeader& header, const StackOptions& options);

}  // namespace embert
