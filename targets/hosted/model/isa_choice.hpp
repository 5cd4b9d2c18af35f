// SPDX-License-Identifier: Apache-2.0
// ISA extensions by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace embert::hosted {

/// "auto", "scalar" and the extensions, slowest first.
std::vector<std::string> isa_choices();
/// "scalar" and the extensions that this machine and this build have.
std::vector<std::string> runnable_isas();

/// Returns the mask for an ISA extension by name: that extension and all slower ones that this
/// machine and this build have; "auto": all of them. Throws UsageError if they lack the named one.
uint32_t isa_mask_of(const std::string& name);

}  // namespace embert::hosted
