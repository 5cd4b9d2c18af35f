// SPDX-License-Identifier: Apache-2.0
// The keys of a sentencepiece charsmap: u32 size of the trie, the trie (a double array of
// darts-clone, github.com/s-yata/darts-clone), replacements that end in a zero byte.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace embert::convert {

/// Walks through the whole trie and returns the replacements of keys of one byte, which are ASCII
/// characters. Throws ConvertError where the trie leads outside itself, or a replacement is no
/// UTF-8 text of at most 255 bytes.
std::map<char, std::string> read_charsmap(const std::vector<std::uint8_t>& charsmap);

}  // namespace embert::convert
