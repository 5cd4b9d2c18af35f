// SPDX-License-Identifier: Apache-2.0
// The block of memory in which a firmware keeps arena, buffers and outputs; `embert fit` says its
// size before there is a firmware.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "embert/embert_inspect.h"
#include "targets/device/device_session.hpp"

namespace embert::device {

/// Longest text that a firmware takes, from a terminal or in a frame.
static constexpr size_t kMaxFirmwareText = 512;
static constexpr size_t kFrameBufferBytes = DeviceSession::frame_buffer_bytes(kMaxFirmwareText);

/// The end of a part of `bytes` behind `used` bytes: every part begins at a multiple of 64.
static constexpr size_t end_of_part(size_t used, size_t bytes) {
  return (used + 63) / 64 * 64 + bytes;
}

/// The bytes of all parts in the order in which firmware.cpp takes them.
static constexpr size_t firmware_memory(const embert_model_info& info, uint32_t max_tokens,
                                        size_t arena_bytes) {
  size_t used = end_of_part(0, arena_bytes);
  used = end_of_part(used, max_tokens * sizeof(int32_t));        // ids
  used = end_of_part(used, max_tokens * sizeof(int32_t));        // segments
  used = end_of_part(used, info.num_labels * sizeof(int32_t));   // logits
  used = end_of_part(used, info.vector_size * sizeof(int16_t));  // vector
  return end_of_part(used, kFrameBufferBytes);
}

}  // namespace embert::device
