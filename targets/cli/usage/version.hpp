// SPDX-License-Identifier: Apache-2.0
// The text of --version.
#pragma once

#include <string>

namespace embert::cli {

/// Three lines: the version; compiler, build type and parts of the build; the kernels that this
/// machine can run.
std::string version_text();

}  // namespace embert::cli
