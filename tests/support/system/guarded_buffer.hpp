// SPDX-License-Identifier: Apache-2.0
// Memory between two pages that can not be touched: a kernel that reads or writes one byte outside
// its data crashes on the spot.
#pragma once

#include <cstddef>
#include <cstdint>

namespace embert {

/// Where the data touches a guard page.
enum class Flush { kEnd, kBegin };

/// Pages for size bytes between two PROT_NONE pages. Bytes beside the data hold kCanary.
class GuardedBytes {
 public:
  GuardedBytes(size_t size, size_t alignment, Flush flush);
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  ~GuardedBytes();

  uint8_t* data() const { return data_; }
  /// False when a byte beside the data, but before the guard pages, has changed.
  bool surroundings_intact() const;

  static constexpr uint8_t kCanary = 0xa5;

 private:
  uint8_t* map_;
  size_t map_size_;
  uint8_t* data_;
  size_t size_;
};

/// count elements of T. With Flush::kEnd and an alignment that does not divide the size, up to
/// alignment - 1 canary bytes lie between the end and the guard page.
template <typename T>
class GuardedBuffer {
 public:
  explicit GuardedBuffer(size_t count, size_t alignment = alignof(T), Flush flush = Flush::kEnd)
      : bytes_(count * sizeof(T), alignment, flush), count_(count) {}

  T* data() const { return reinterpret_cast<T*>(bytes_.data()); }
  size_t size() const { return count_; }
  T* begin() const { return data(); }
  T* end() const { return data() + count_; }
  T& operator[](size_t i) const { return data()[i]; }
  bool surroundings_intact() const { return bytes_.surroundings_intact(); }

 private:
  GuardedBytes bytes_;
  size_t count_;
};

}  // namespace embert
