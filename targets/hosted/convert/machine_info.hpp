// SPDX-License-Identifier: Apache-2.0
// The processor and versions for the report of a conversion. The float32 reference chooses its
// kernels by processor, so blobs from different kinds of processor may differ.
#pragma once

#include "targets/hosted/line_text.hpp"

namespace embert::hosted {

/// Throws InternalError if cpuinfo fails or crashes on this machine, or finds no processor: the one
/// that distributions ship (2022) does so where files of /sys/devices/system/cpu open but do not
/// read. It is tried in a process of its own, before XNNPACK calls it here.
void check_cpuinfo();

/// Returns {"cpu": {name, features, kernels}, "versions": {embert, compiler}}.
Json machine_info();

}  // namespace embert::hosted
