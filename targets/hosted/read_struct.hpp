// SPDX-License-Identifier: Apache-2.0
// Structs of the C interface that begin with `size` and may grow, by the rule of embert.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "targets/hosted/hosted_error.hpp"

namespace embert::hosted {

/// Whether a struct ends with a member, as all must on machines of 32 and of 64 bits: padding has
/// any value, and an older library would take it for what it does not know.
template <typename T, typename Member>
constexpr bool ends_with(std::size_t offset, Member T::*) {
  return offset + sizeof(Member) == sizeof(T);
}

/// Returns the caller's struct, with zeros for the members that it does not know. required: the
/// bytes of the members that no caller may leave out. Throws UsageError where size is smaller, or
/// where a newer caller sets what this library does not know.
template <typename T>
T read_struct(const T* given, size_t required, const char* name) {
  constexpr size_t kLargestSize = 4096;
  if (given == nullptr) throw UsageError(std::string(name) + " is null");
  const size_t size = given->size;
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  const bool is_newer =
      size > sizeof(T) && size <= kLargestSize &&
      std::any_of(bytes + sizeof(T), bytes + size, [](unsigned char byte) { return byte != 0; });
  if (size < required || size > kLargestSize || is_newer) {
    throw UsageError(std::string(name) + ".size is " + std::to_string(size) +
                     "; set it to sizeof(" + name + "), " + std::to_string(sizeof(T)) + " here");
  }
  T whole = {};
  std::memcpy(&whole, given, std::min(size, sizeof(T)));
  whole.size = sizeof(T);
  return whole;
}

}  // namespace embert::hosted
