// SPDX-License-Identifier: Apache-2.0
// One safetensors file. Its contents are untrusted: the constructor checks every rule of the
// format, so afterwards each tensor's bytes lie in the file and match its shape. A tensor is read
// into memory of its own when it is asked for. Mapped files were a trap: where another program
// shortens one, the next access to its bytes ends the process.
//
//   u64 header_bytes (little-endian) | header: JSON, may end in spaces | data: the tensors, without
//   gaps, to the end
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "converter/convert_error.hpp"
#include "converter/files/read_file.hpp"

namespace embert::convert {

/// "[30522, 384]"
std::string shape_text(std::span<const std::uint64_t> shape);

struct TensorInfo {
  std::string dtype;                 ///< as the format spells it: "F32", "BF16", "I64" ...
  std::vector<std::uint64_t> shape;  ///< empty: a scalar
  std::uint64_t elements = 0;
  std::uint64_t begin = 0;  ///< bytes from the start of the data
  std::uint64_t end = 0;
};

class SafetensorsFile {
 public:
  /// `file` stands in messages. Throws ConvertError where the file breaks a rule.
  SafetensorsFile(const std::filesystem::path& path, std::string file);

  const std::map<std::string, TensorInfo, std::less<>>& tensors() const { return tensors_; }
  const std::string& file() const { return file_; }
  /// Null where there is no such tensor.
  const TensorInfo* find(std::string_view name) const;

  /// The values of an F32, F16 or BF16 tensor. Throws ConvertError for any other type, where there
  /// is no such tensor, and where the file can no longer be read.
  std::vector<float> read_float(std::string_view name) const;
  /// The values of a tensor of F64, F32, F16, BF16, I64, I32 or I8. Throws in the same way.
  std::vector<double> read_numbers(std::string_view name) const;
  /// The values of an I32 tensor. Throws in the same way.
  std::vector<std::int32_t> read_int32(std::string_view name) const;

 private:
  std::string read_header() const;
  void parse(std::string_view header);
  const TensorInfo& required(std::string_view name) const;
  template <typename T>
  std::vector<T> read_values(const TensorInfo& info) const;

  std::string file_;
  std::unique_ptr<const OpenFile> open_;
  std::uint64_t data_start_ = 0;
  std::map<std::string, TensorInfo, std::less<>> tensors_;
};

}  // namespace embert::convert
