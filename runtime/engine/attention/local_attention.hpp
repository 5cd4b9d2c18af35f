// SPDX-License-Identifier: Apache-2.0
// Local attention: the keys that a block of queries reads (Beltagy et al. 2020, section 3.1).
#pragma once

#include "runtime/engine/attention/kv_cache.hpp"

namespace embert {

/// The keys that a block of queries reads.
struct KeyRange {
  size_t first;  ///< a multiple of 16
  size_t count;
};

/// In local layers those that one of m queries sees, of which the first stands at place `own`; all
/// where that spares less than half of them.
KeyRange local_range(const KvView& kv, size_t reach, size_t own, size_t m);

/// The column sums of the values of some keys, in place of those of all. Only processors that read
/// exponentials as signed bytes use them.
const int32_t* local_sums(const KvView& kv, const KeyRange& keys, size_t columns, int32_t* sums);

}  // namespace embert
