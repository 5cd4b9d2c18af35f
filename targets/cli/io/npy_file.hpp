// SPDX-License-Identifier: Apache-2.0
// A numpy array of vectors, written row by row. The file appears whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "targets/cli/io/new_file.hpp"
#include "targets/hosted/embert_hosted.h"

namespace embert::cli {

class NpyFile {
 public:
  /// Throws UsageError if the file cannot be written.
  NpyFile(const std::string& path, embert_vector_format format, size_t row_bytes);

  /// Appends whole rows. Throws WriteError.
  void append(std::span<const uint8_t> rows);
  /// Writes the shape and puts the file in place. Throws WriteError.
  void finish();

 private:
  std::string header() const;

  NewFile file_;
  embert_vector_format format_;
  size_t row_bytes_, rows_ = 0;
};

}  // namespace embert::cli
