// SPDX-License-Identifier: Apache-2.0
// Entities of a list of tags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace embert::convert {

/// A run of words, or tokens, of one kind. An entity goes on with a word of its kind that is tagged
/// I or E, unless the word before it is tagged E or S; every other word outside O begins one.
struct TaggedEntity {
  std::size_t first, last;
  std::string_view kind;  ///< within a name of the tags

  bool operator==(const TaggedEntity&) const = default;
};

/// names: such as "O" and "B-person". A name without a letter of B, I, E or S and a dash in front
/// counts as I-name, as in transformers. tags [words]: indices of names; -1: O.
std::vector<TaggedEntity> tagged_entities(const std::vector<std::string>& names,
                                          const std::vector<std::int32_t>& tags);

/// How many entities of one list are in the other one, with the same words and kind.
std::size_t common_entities(const std::vector<TaggedEntity>& some,
                            const std::vector<TaggedEntity>& others);

}  // namespace embert::convert
