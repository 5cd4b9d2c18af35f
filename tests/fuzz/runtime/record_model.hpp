// SPDX-License-Identifier: Apache-2.0
// Everything that the API offers for a blob.
#pragma once

#include "tests/fuzz/runtime/record.hpp"
#include "tests/support/synthetic_blob.hpp"

namespace embert::fuzz {

/// Opens the blob with the kernels of isa_mask and records what it says of itself, its tokens of
/// two texts, and what an engine in an arena of exactly the size asked for computes. Large arenas
/// are left out.
Record record_model(const test::AlignedBytes& blob, std::uint32_t isa_mask);

}  // namespace embert::fuzz
