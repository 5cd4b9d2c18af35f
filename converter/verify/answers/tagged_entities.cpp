// SPDX-License-Identifier: Apache-2.0
#include "converter/verify/answers/tagged_entities.hpp"

#include <algorithm>

namespace embert::convert {
namespace {

struct TagParts {
  char place;  ///< B, I, E, S or O
  std::string_view kind;
};

TagParts parts_of(const std::vector<std::string>& names, std::int32_t tag) {
  if (tag < 0) return {'O', {}};
  const std::string_view name = names[static_cast<std::size_t>(tag)];
  if (name == "O") return {'O', {}};
  const bool has_place =
      name.size() > 1 && name[1] == '-' && std::string_view("BIES").find(name[0]) < 4;
  return has_place ? TagParts{name[0], name.substr(2)} : TagParts{'I', name};
}

bool goes_on(const TagParts& before, const TagParts& word) {
  return before.kind == word.kind && (before.place == 'B' || before.place == 'I') &&
         (word.place == 'I' || word.place == 'E');
}

}  // namespace

std::vector<TaggedEntity> tagged_entities(const std::vector<std::string>& names,
                                          const std::vector<std::int32_t>& tags) {
  std::vector<TaggedEntity> entities;
  TagParts before = {'O', {}};
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const TagParts word = parts_of(names, tags[i]);
    if (goes_on(before, word)) {
      entities.back().last = i;
    } else if (word.place != 'O') {
      entities.push_back({i, i, word.kind});
    }
    before = word;
  }
  return entities;
}

std::size_t common_entities(const std::vector<TaggedEntity>& some,
                            const std::vector<TaggedEntity>& others) {
  return static_cast<std::size_t>(std::ranges::count_if(some, [&](const TaggedEntity& entity) {
    return std::ranges::find(others, entity) != others.end();
  }));
}

}  // namespace embert::convert
