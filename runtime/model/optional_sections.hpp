// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/model/section_walk.hpp"

namespace embert {

/// Checks the entries behind the required ones. A kind that this reader does not know has any
/// contents. Sections that belong to a bit of the header are there if and only if the bit is set.
void check_optional_sections(Walk& walk, const BlobHeader& header);

}  // namespace embert
