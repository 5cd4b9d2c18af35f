// SPDX-License-Identifier: Apache-2.0
// A walk over the sections of a blob that may be hostile: checks each section's place in the table
// and in the blob, and its values with one function for each kind of contents.
#pragma once

#include "embert/embert_inspect.h"
#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/arithmetic/layout.hpp"
#include "runtime/format/blob_format.hpp"
#include "runtime/model/section_sizes.hpp"

namespace embert {

template <typename T>
inline bool all_in(const T* values, size_t count, T lowest, T highest) {
  uint32_t outside = 0;  // no early exit: the loop reads megabytes and must vectorise
  for (size_t i = 0; i < count; ++i) {
    outside |=
        static_cast<uint32_t>(values[i] < lowest) | static_cast<uint32_t>(values[i] > highest);
  }
  return outside == 0;
}
inline bool all_within(const int32_t* values, size_t count, int32_t bound) {
  return all_in<int32_t>(values, count, -bound, bound);
}

/// Walks the blob's sections in their fixed order. Checks the position of each section, and its
/// size and values with one function for each kind of contents. Keeps the first failure.
class Walk {
 public:
  Walk(const uint8_t* blob, const BlobHeader& header)
      : blob_(blob),
        header_(header),
        table_(reinterpret_cast<const BlobSection*>(blob + sizeof(BlobHeader))),
        next_(table_),
        end_(sizeof(BlobHeader) + uint64_t{header.section_count} * sizeof(BlobSection)) {
    if (end_ > header.blob_bytes) status_ = EMBERT_STATUS_BLOB_SECTION;
  }

  embert_status finish() {
    if (status_ == EMBERT_STATUS_OK && end_ != header_.blob_bytes) {
      status_ = EMBERT_STATUS_BLOB_SECTION;
    }
    return status_;
  }
  bool sound() const { return status_ == EMBERT_STATUS_OK; }
  void require(bool ok, embert_status otherwise) {
    if (sound() && !ok) status_ = otherwise;
  }
  void require_value(bool ok) { require(ok, EMBERT_STATUS_BLOB_VALUE); }

  void enter(uint32_t stack, uint32_t layer) {
    stack_ = stack;
    layer_ = layer;
  }

  /// Contents of the next section, which must have this kind and size. Null if it is empty, and
  /// after a failure.
  const uint8_t* next(uint32_t kind, uint64_t bytes) {
    const BlobSection* s = check_position(kind);
    require(s != nullptr && s->bytes == bytes, EMBERT_STATUS_BLOB_SECTION);
    return sound() && bytes > 0 ? blob_ + s->offset : nullptr;
  }
  /// The same for a section that may have any size.
  const uint8_t* next_of_any_size(uint32_t kind, uint64_t* bytes) {
    const BlobSection* s = check_position(kind);
    if (!sound()) return nullptr;
    *bytes = s->bytes;
    return blob_ + s->offset;
  }
  template <typename T>
  const T* array(uint32_t kind, uint64_t count) {
    return reinterpret_cast<const T*>(next(kind, count * sizeof(T)));
  }

  void weights(const int8_t* weights, size_t columns, size_t inputs, const int32_t* sums);
  void weights_n8k16(const int8_t* weights, size_t columns, size_t inputs, const int32_t* sums);
  /// Of a dense layer, in the order that the header says.
  void dense_weights(const int8_t* at, size_t columns, size_t inputs, const int32_t* sums) {
    if (kOpensN8K16 && header_.layout == kLayoutN8K16) {
      return weights_n8k16(at, columns, inputs, sums);
    }
    weights(at, columns, inputs, sums);
  }
  void dense(uint32_t kind, bool there, size_t n, size_t k) {
    if (const uint8_t* at = next(kind, there ? dense_bytes(n, k) : 0)) dense_values(at, n, k);
  }
  /// at: [dense_bytes(n, k)]
  void dense_values(const uint8_t* at, size_t n, size_t k) {
    const size_t columns = pad_columns(n), inputs = pad_inputs(k);
    const int32_t* bias = reinterpret_cast<const int32_t*>(at + columns * inputs);
    dense_weights(reinterpret_cast<const int8_t*>(at), columns, inputs, bias + columns);
    require_value(all_within(bias, columns, kMaxDenseBias) &&
                  all_in<int32_t>(bias + 2 * columns, columns, 0, INT32_MAX));
  }
  void residual_dense(uint32_t kind, bool there, size_t n, size_t k) {
    if (const uint8_t* at = next(kind, there ? residual_dense_bytes(n, k) : 0)) {
      residual_dense(at, n, k);
    }
  }
  void residual_dense(const uint8_t* at, size_t n, size_t k) {
    const size_t columns = pad_columns(n), inputs = pad_inputs(k);
    const int32_t* sums = reinterpret_cast<const int32_t*>(at + columns * inputs);
    dense_weights(reinterpret_cast<const int8_t*>(at), columns, inputs, sums);
    require_value(all_in<int32_t>(sums + columns, columns, 0, INT32_MAX) &&
                  all_within(sums + 2 * columns, columns, kMaxResidualMultiplier) &&
                  all_within(sums + 3 * columns, columns, kMaxResidualConstant));
  }
  void norm(uint32_t kind, bool there, size_t size) {
    const int32_t* gain = array<int32_t>(kind, there ? 2 * size : 0);
    if (gain != nullptr) norm_parts(gain, size);
  }
  /// The parts of a LayerNorm: gain, then bias.
  void norm_parts(const int32_t* gain, size_t size) {
    require_value(all_within(gain, size, INT32_MAX) && all_within(gain + size, size, kMaxNormBias));
  }
  /// exact: the stack may have exponentials of 14 bits.
  void scores(uint32_t kind, bool there, size_t heads, bool exact) {
    const uint32_t* multipliers = array<uint32_t>(kind, there ? 2 * heads : 0);
    if (multipliers == nullptr) return;
    require_value(all_in<uint32_t>(multipliers, heads, exact ? kMinScoreMultiplier14 : 1,
                                   exact ? kMaxScoreMultiplier14 : kMaxScoreMultiplier));
    for (size_t i = 0; i < heads; ++i) {
      const uint64_t cap = multipliers[heads + i];
      const uint64_t exponent = cap * multipliers[i] + (1u << 21);
      require_value(cap <= kMaxScoreCap && exponent <= UINT32_MAX && exponent >> 22 >= kExpEnd);
    }
  }
  void multipliers(uint32_t kind, uint64_t count, int32_t highest) {
    const int32_t* values = array<int32_t>(kind, count);
    if (values != nullptr) {
      require_value(all_in<int32_t>(values, static_cast<size_t>(count), 0, highest));
    }
  }
  void names(uint32_t kind, uint32_t count) {
    uint64_t bytes = 0;
    const uint8_t* text = next_of_any_size(kind, &bytes);
    if (text != nullptr) strings(text, bytes, count);
  }
  /// Zero-terminated strings that fill these bytes.
  void strings(const uint8_t* text, uint64_t bytes, uint32_t count) {
    uint64_t ends = 0;
    for (uint64_t i = 0; i < bytes; ++i) ends += text[i] == 0;
    require_value(ends == count && (bytes == 0 || text[bytes - 1] == 0));
  }
  /// A look ahead at an optional section, which must be there with at least so many bytes; null
  /// after a failure. Its place and its other contents are checked when the walk arrives there.
  const uint8_t* peek(uint32_t kind, uint64_t bytes) {
    for (uint32_t i = 0; sound() && i < header_.section_count; ++i) {
      const BlobSection& s = table_[i];
      if (s.kind == kind && s.offset % kBlobAlignment == 0 && s.bytes >= bytes &&
          s.offset <= header_.blob_bytes && s.bytes <= header_.blob_bytes - s.offset) {
        return blob_ + s.offset;
      }
    }
    require(false, EMBERT_STATUS_BLOB_SECTION);
    return nullptr;
  }
  bool at_end() const { return next_ == table_ + header_.section_count; }
  /// Not at the end.
  uint32_t next_kind() const { return next_->kind; }

 private:
  const BlobSection* check_position(uint32_t kind) {
    if (!sound()) return nullptr;
    const BlobSection& s = *next_++;
    const uint64_t start = (end_ + kBlobAlignment - 1) / kBlobAlignment * kBlobAlignment;
    bool ok = s.kind == kind && s.stack == stack_ && s.layer == layer_ && s.offset == start &&
              start <= header_.blob_bytes && s.bytes <= header_.blob_bytes - start;
    for (uint64_t i = end_; ok && i < start; ++i) ok = blob_[i] == 0;
    require(ok, EMBERT_STATUS_BLOB_SECTION);
    end_ = start + s.bytes;
    return &s;
  }

  const uint8_t* blob_;
  const BlobHeader& header_;
  const BlobSection* table_;  ///< [section_count]
  const BlobSection* next_;
  uint64_t end_;  ///< of the sections so far
  uint32_t stack_ = 0, layer_ = 0;
  embert_status status_ = EMBERT_STATUS_OK;
};

}  // namespace embert
