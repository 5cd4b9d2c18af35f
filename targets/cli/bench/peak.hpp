// SPDX-License-Identifier: Apache-2.0
// The peak rate of a core's multiply-add instruction, measured on the spot instead of looked up.
// `embert bench` shows each speed as a share of this peak.
#pragma once

#include <cstdint>

namespace embert {

/// Returns the 8-bit multiply-adds per second of one core with the best instruction in isa_mask:
/// TDPBUSD of AMX; VPDPBUSD of 512 or 256 bits; on AVX2 VPMADDWD and VPADDD. Independent registers,
/// no loads; the best of many short runs in about 20 ms. The machine must have the extensions.
/// Returns 0 where no such instruction is known.
double measure_peak_macs_per_second(uint32_t isa_mask);

}  // namespace embert
