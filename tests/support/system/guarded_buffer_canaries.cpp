// SPDX-License-Identifier: Apache-2.0
// GuardedBytes where no page can be protected: canaries on both sides, which do not show reads.
#include <algorithm>
#include <cstring>

#include "kernels/arithmetic/layout.hpp"
#include "tests/support/system/guarded_buffer.hpp"

namespace embert {
namespace {

constexpr size_t kSide = 256;

}  // namespace

GuardedBytes::GuardedBytes(size_t size, size_t alignment, Flush flush) : size_(size) {
  const size_t usable = round_up(size + 1, kSide);
  map_size_ = usable + 3 * kSide;
  map_ = new uint8_t[map_size_];
  memset(map_, kCanary, map_size_);
  const size_t misaligned = reinterpret_cast<uintptr_t>(map_) % kSide;
  uint8_t* begin = map_ + 2 * kSide - misaligned;
  data_ = flush == Flush::kEnd ? begin + (usable - size) / alignment * alignment : begin;
}

GuardedBytes::~GuardedBytes() { delete[] map_; }

bool GuardedBytes::surroundings_intact() const {
  const auto is_canary = [](uint8_t byte) { return byte == kCanary; };
  return std::all_of(map_, data_, is_canary) &&
         std::all_of(data_ + size_, map_ + map_size_, is_canary);
}

}  // namespace embert
