// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/model/section_walk.hpp"

namespace embert {

/// Checks the section kSectionVector. section: null after a failure.
void check_vector(Walk& walk, const BlobHeader& header, const uint8_t* section, uint64_t bytes);

}  // namespace embert
