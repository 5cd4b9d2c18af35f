// SPDX-License-Identifier: Apache-2.0
// A list of the best: fixed room, best first.
#pragma once

#include <stddef.h>

namespace embert {

/// Puts item into list [*count], behind those that it does not come before, so that of equals the
/// first to come stays first. Where the list is full its last item falls out, or item does not go
/// in.
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
