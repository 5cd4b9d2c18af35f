// SPDX-License-Identifier: Apache-2.0
// The one model of an instance, which all exported functions share. package/embert.js is their only
// caller: addresses and sizes are 32-bit numbers, texts are UTF-8, and results are read at the
// addresses that functions return until the next call.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "embert/embert_inspect.h"
#include "embert/embert_run.h"

#define EMBERT_EXPORT(name) extern "C" [[clang::export_name(#name)]]

namespace embert::web {

struct WebModel {
  embert_model model;
  embert_model_info info;
  embert_engine* engine;
  uint32_t max_tokens;  ///< of the engine
};
extern WebModel web;

/// The tokens of the last tokenize(), or what the last run of a model read.
struct Tokens {
  int32_t* ids;            ///< [capacity]
  int32_t* type_ids;       ///< [capacity]
  int32_t* word_ids;       ///< [capacity]
  int32_t* sequence_ids;   ///< [capacity]
  uint32_t* byte_offsets;  ///< [capacity][2]
  uint32_t* char_offsets;  ///< [capacity][2]
  uint32_t length;
};

/// Gives parts of one piece of memory, 64-byte aligned, one behind the other.
struct Cursor {
  uint8_t* base;  ///< null: sizes are counted only
  uint64_t at;    ///< may be beyond all memory while sizes are counted

  /// Bytes of what was taken: 2^32 - 1, which no memory has left, for more than that.
  size_t room() const { return at < UINT32_MAX ? static_cast<size_t>(at) : UINT32_MAX; }

  template <typename T>
  T* take(uint64_t count) {
    constexpr uint64_t kAlignment = 64;
    T* const place =
        base == nullptr ? nullptr : reinterpret_cast<T*>(base + static_cast<size_t>(at));
    at += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return place;
  }
  Tokens take_tokens(uint64_t count) {
    Tokens tokens = {};
    tokens.ids = take<int32_t>(count);
    tokens.type_ids = take<int32_t>(count);
    tokens.word_ids = take<int32_t>(count);
    tokens.sequence_ids = take<int32_t>(count);
    tokens.byte_offsets = take<uint32_t>(2 * count);
    tokens.char_offsets = take<uint32_t>(2 * count);
    return tokens;
  }
};

inline embert_text text_of(const char* text, size_t bytes, const char* pair, size_t pair_bytes) {
  return {.text = text, .text_bytes = bytes, .pair = pair, .pair_bytes = pair_bytes};
}

}  // namespace embert::web
