// SPDX-License-Identifier: Apache-2.0
// The sections behind the required ones (FORMAT.md, section 8).
#include "runtime/model/optional_sections.hpp"

#include "runtime/model/record_checks.hpp"

namespace embert {
namespace {

/// Of zero-terminated strings.
bool comes_before(const uint8_t* a, const uint8_t* b) {
  while (*a == *b && *a != 0) {
    ++a;
    ++b;
  }
  return *a < *b;
}

/// section: null after a failure.
void check_prompts(Walk& walk, const uint8_t* section, uint64_t bytes) {
  walk.require(bytes >= sizeof(BlobPrompts), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const BlobPrompts& prompts = *reinterpret_cast<const BlobPrompts*>(section);
  walk.require_value(
      in_range(prompts.count, 1, kMaxPrompts) &&
      (prompts.default_prompt < prompts.count || prompts.default_prompt == UINT32_MAX));
  const uint8_t* name = section + sizeof(prompts);
  walk.strings(name, bytes - sizeof(prompts), 2 * prompts.count);
  const uint8_t empty = 0, *previous = &empty;
  for (uint32_t i = 0; i < prompts.count && walk.sound(); ++i) {
    walk.require_value(comes_before(previous, name));  // an empty name comes before no other
    previous = name;
    for (uint32_t ends = 0; ends < 2; ++name) ends += *name == 0;  // to the next name
  }
}

}  // namespace

void check_optional_sections(Walk& walk) {
  uint32_t previous = kFirstOptionalSection - 1;
  while (walk.sound() && !walk.at_end()) {
    const uint32_t kind = walk.next_kind();
    walk.require(kind > previous, EMBERT_STATUS_BLOB_SECTION);
    previous = kind;
    uint64_t bytes = 0;
    const uint8_t* section = walk.next_of_any_size(kind, &bytes);
    if (kind == kSectionPrompts) check_prompts(walk, section, bytes);
  }
}

}  // namespace embert
