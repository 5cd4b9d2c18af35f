// SPDX-License-Identifier: Apache-2.0
// A numpy array of vectors, written row by row. The file appears whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "targets/hosted/embert_hosted.h"

namespace embert::cli {

class NpyFile {
 public:
  /// Throws UsageError if the file cannot be written.
  NpyFile(const std::string& path, embert_vector_format format, size_t row_bytes);
  /// Leaves an existing file as it was unless finish() was called.
  ~NpyFile();
  NpyFile(const NpyFile&) = delete;
  NpyFile& operator=(const NpyFile&) = delete;

  /// Appends whole rows. Throws WriteError.
  void append(std::span<const uint8_t> rows);
  /// Writes the shape and puts the file in place. Throws WriteError.
  void finish();

 private:
  void write_header();
  [[noreturn]] void fail(const char* what, int error) const;

  std::string path_, temporary_;
  embert_vector_format format_;
  size_t row_bytes_, rows_ = 0;
  int file_ = -1;
};

}  // namespace embert::cli
