// SPDX-License-Identifier: Apache-2.0
// The yardstick of every speed figure: what a core can do at most with a cluster's multiply-add
// instruction, measured on the spot instead of looked up.
#pragma once

#include <cstdint>

namespace embert {

/// 8-bit multiply-adds a second of one core with the best instruction of the clusters in isa_mask
/// (VPDPBUSD of 512 or 256 bits; VPMADDWD and VPADDD on AVX2) on independent registers, without
/// loads: the best of many short runs, about 20 ms. The machine has the clusters. 0 where there is
/// no such instruction.
double measure_peak_macs_per_second(uint32_t isa_mask);

}  // namespace embert
