// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/model/section_walk.hpp"

namespace embert {

/// Checks the entries behind the required ones. A kind that this reader does not know has any
/// contents.
void check_optional_sections(Walk& walk);

}  // namespace embert
