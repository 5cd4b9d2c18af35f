// SPDX-License-Identifier: Apache-2.0
// Takes system calls away, as on a machine or in a container without them.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <span>

namespace embert::test {

/// The filter decides about the calls of this thread and of all programs that it starts.
/// Returns false if the kernel has no such filter.
inline bool filter_calls(std::span<sock_filter> steps) {
  const sock_fprog filter = {.len = static_cast<unsigned short>(steps.size()),
                             .filter = steps.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace embert::test
