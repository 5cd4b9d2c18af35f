// SPDX-License-Identifier: Apache-2.0
// What a converter's report says about where it ran: the float reference picks its kernels by
// processor, so blobs from different kinds of processor may differ.
#pragma once

#include "targets/cli/io/output.hpp"

namespace embert::cli {

/// {"cpu": {name, features, kernels}, "versions": {embert, compiler}}
Json machine_info();

}  // namespace embert::cli
