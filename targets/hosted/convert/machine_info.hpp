// SPDX-License-Identifier: Apache-2.0
// The processor and versions for the report of a conversion. The float32 reference chooses its
// kernels by processor, so blobs from different kinds of processor may differ.
#pragma once

#include "targets/hosted/line_text.hpp"

namespace embert::hosted {

/// Returns {"cpu": {name, features, kernels}, "versions": {embert, compiler}}.
Json machine_info();

}  // namespace embert::hosted
