// SPDX-License-Identifier: Apache-2.0
// string.h for WebAssembly: memory.copy and memory.fill are instructions.
#include <string.h>

void* memcpy(void* to, const void* from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
void* memmove(void* to, const void* from, size_t bytes) {
  return __builtin_memmove(to, from, bytes);
}
void* memset(void* to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }

int memcmp(const void* a, const void* b, size_t bytes) {
  const auto* left = static_cast<const unsigned char*>(a);
  const auto* right = static_cast<const unsigned char*>(b);
  for (size_t i = 0; i < bytes; ++i) {
    if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
  }
  return 0;
}

size_t strlen(const char* text) {
  size_t length = 0;
  while (text[length] != 0) ++length;
  return length;
}
