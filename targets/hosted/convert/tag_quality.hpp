// SPDX-License-Identifier: Apache-2.0
// How good the tags of words are: F1 of whole entities, as conlleval and seqeval's default mode
// count them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "converter/verify/answers/tagged_entities.hpp"
#include "targets/hosted/convert/quality.hpp"

namespace embert::hosted {

using convert::tagged_entities;
using convert::TaggedEntity;

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
