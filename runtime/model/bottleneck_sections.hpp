// SPDX-License-Identifier: Apache-2.0
// Checks of the sections that MobileBERT's layers and words have (FORMAT.md, section 8).
#pragma once

#include "runtime/model/optional_sections.hpp"

namespace embert {

bool bottleneck_ok(const BlobBottleneck& record, const BlobStack& stack);

/// section: null after a failure.
void check_word_projection(Walk& walk, const BlobStack& stack, const uint8_t* section,
                           uint64_t bytes);

/// A section of this kind for each layer: kSectionLayerBottleneck or kSectionStackedFfn.
void check_layer_sections(Walk& walk, uint32_t kind, const BlobStack& stack,
                          const StackOptions& options);

}  // namespace embert
