// SPDX-License-Identifier: Apache-2.0
// The flags of stacks that this build runs. Code behind built() costs no flash in a build without
// the flag's families.
#pragma once

#include "kernels/built_families.hpp"
#include "runtime/format/blob_format.hpp"

namespace embert {

constexpr uint32_t flags_without(bool has_family, uint32_t flags) { return has_family ? 0 : flags; }

constexpr uint32_t kBuiltStackFlags =
    kStackFlagsAll &
    ~(flags_without(kHasRoberta || kHasMpnet, kStackPaddingPosition) |
      flags_without(kHasMpnet, kStackScoreBias) |
      flags_without(kHasElectra || kHasAlbert, kStackEmbeddingProjection) |
      flags_without(kHasAlbert, kStackSharedLayers) |
      flags_without(kHasMobileBert, kStackBottleneck | kStackWordProjection) |
      flags_without(kHasModernBert, kStackRotary | kStackLocalAttention | kStackGatedFfn) |
      flags_without(kHasStatic, kStackStatic));

constexpr bool built(uint32_t flag) { return (kBuiltStackFlags & flag) != 0; }

/// Whether a stack has a flag. The validator refuses stacks with flags that are not built.
constexpr bool has(uint32_t flags, uint32_t flag) { return (flags & flag & kBuiltStackFlags) != 0; }

}  // namespace embert
