// SPDX-License-Identifier: Apache-2.0
#include "tests/support/system/guarded_buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "kernels/arithmetic/layout.hpp"

namespace embert {
namespace {

size_t page_size() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

GuardedBytes::GuardedBytes(size_t size, size_t alignment, Flush flush) : size_(size) {
  const size_t page = page_size(), usable = round_up(size + 1, page);
  map_size_ = usable + 2 * page;
  void* map = mmap(nullptr, map_size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  map_ = static_cast<uint8_t*>(map);
  if (mprotect(map_ + page, usable, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  memset(map_ + page, kCanary, usable);
  const size_t offset = flush == Flush::kEnd ? (usable - size) / alignment * alignment : 0;
  data_ = map_ + page + offset;
}

GuardedBytes::~GuardedBytes() { munmap(map_, map_size_); }

bool GuardedBytes::surroundings_intact() const {
  const size_t page = page_size();
  const auto is_canary = [](uint8_t byte) { return byte == kCanary; };
  return std::all_of(map_ + page, data_, is_canary) &&
         std::all_of(data_ + size_, map_ + map_size_ - page, is_canary);
}

}  // namespace embert
