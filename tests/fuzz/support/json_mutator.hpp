// SPDX-License-Identifier: Apache-2.0
// Changes of a JSON document that keep it one: most inputs get past the parser.
#pragma once

#include <cstddef>
#include <cstdint>

namespace embert::fuzz {

/// Changes one value or key of the document in data [size]; one time in eight, and where it is no
/// document, its bytes. Returns the new size, at most max_size.
std::size_t mutate_json(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed);

}  // namespace embert::fuzz
