// SPDX-License-Identifier: Apache-2.0
// How good the tags of words are: F1 of whole entities, as conlleval and seqeval's default mode
// count them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "targets/hosted/convert/quality.hpp"

namespace embert::hosted {

/// A run of words of one kind. An entity goes on with a word of its kind that is tagged I or E,
/// unless the word before it is tagged E or S; every other word outside O begins one.
struct TaggedEntity {
  size_t first, last;
  std::string_view kind;  ///< within a name of the tags

  bool operator==(const TaggedEntity&) const = default;
};

/// names: such as "O" and "B-person". A name without a letter of B, I, E or S and a dash in front
/// counts as I-name, as in transformers. tags [words]: indices of names; -1: O.
std::vector<TaggedEntity> tagged_entities(const std::vector<std::string>& names,
                                          const std::vector<int32_t>& tags);

struct TaggedSentence {
  std::vector<int32_t> right, float32, int8;  ///< [words] as for tagged_entities()
};

/// Over all entities of the file: of one that is right, first word, last word and kind are.
struct TagQuality {
  BothModels precision, recall, f1;
  Loss loss;  ///< of F1; the bootstrap draws sentences
};
TagQuality tag_quality(const std::vector<std::string>& names,
                       const std::vector<TaggedSentence>& sentences);

}  // namespace embert::hosted
