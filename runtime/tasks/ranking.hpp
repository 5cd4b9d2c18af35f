// SPDX-License-Identifier: Apache-2.0
// A list of the best items, best first, with fixed capacity.
#pragma once

#include <stddef.h>

namespace embert {

/// Inserts an item into list [*count], which is sorted by `before`. Of equal items the one inserted
/// first stays first. A full list drops its last item, or the new one.
template <typename T, typename Before>
inline void insert_ranked(T* list, size_t capacity, size_t* count, const T& item, Before before) {
  if (*count < capacity) {
    ++*count;
  } else if (capacity == 0 || !before(item, list[capacity - 1])) {
    return;
  }
  size_t at = *count - 1;
  for (; at > 0 && before(item, list[at - 1]); --at) list[at] = list[at - 1];
  list[at] = item;
}

}  // namespace embert
