// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/io/npy_file.hpp"

#include "targets/cli/tool_error.hpp"
#include "targets/hosted/vectors/pack_vector.hpp"

namespace embert::cli {

/// Magic, version, length and text: room for any number of rows.
static constexpr size_t kHeaderBytes = 128;

static std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

NpyFile::NpyFile(const std::string& path, embert_vector_format format, size_t row_bytes)
    : file_(path), format_(format), row_bytes_(row_bytes) {
  file_.append(bytes_of(header()));
}

std::string NpyFile::header() const {
  const bool is_float = format_ == EMBERT_VECTOR_FLOAT32;
  const std::string type = is_float ? "<f4" : is_signed(format_) ? "|i1" : "|u1";
  const size_t columns = is_float ? row_bytes_ / 4 : row_bytes_;
  std::string header("\x93NUMPY\x01\x00", 8);
  const size_t text_bytes = kHeaderBytes - header.size() - 2;
  header += static_cast<char>(text_bytes);
  header += '\0';
  header += "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + std::to_string(rows_) +
            ", " + std::to_string(columns) + "), }";
  header.resize(kHeaderBytes - 1, ' ');
  return header + '\n';
}

void NpyFile::append(std::span<const uint8_t> rows) {
  file_.append(rows);
  rows_ += rows.size() / row_bytes_;
}

void NpyFile::finish() {
  file_.overwrite_start(bytes_of(header()));
  file_.put_in_place();
}

}  // namespace embert::cli
