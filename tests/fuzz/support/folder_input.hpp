// SPDX-License-Identifier: Apache-2.0
// A folder as one input: a JSON object of its files. A string is written as it is, any other value
// as JSON. Of a file whose name ends with ".safetensors" an object is the header. Its kDataKey is
// no tensor, but a list of bytes that the data repeat; without the list they are zeros. Of
// any file an object with the one key kBytesKey has a text in Latin-1: one byte each character.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/support/model_folder.hpp"

namespace embert::fuzz {

inline constexpr const char *kDataKey = "data", *kBytesKey = "bytes";

/// Writes the files of an input into an empty folder; false where it is no such object. Files whose
/// names lead out of the folder are left out.
bool write_folder(const std::uint8_t* data, std::size_t size, const test::TempFolder& folder);

}  // namespace embert::fuzz
