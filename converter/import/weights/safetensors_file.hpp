// SPDX-License-Identifier: Apache-2.0
// One safetensors file, mapped read-only. Its contents are untrusted: the constructor checks every
// rule of the format, so afterwards each tensor's bytes lie in the file and match its shape.
//
//   u64 header_bytes (little-endian) | header: JSON, may end in spaces | data: the tensors, without
//   gaps, to the end
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "converter/convert_error.hpp"

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
  ~SafetensorsFile();
  SafetensorsFile(SafetensorsFile&& other) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) = delete;

  const std::map<std::string, TensorInfo, std::less<>>& tensors() const { return tensors_; }
  const std::string& file() const { return file_; }
  /// Null where there is no such tensor.
  const TensorInfo* find(std::string_view name) const;

  /// The values of an F32, F16 or BF16 tensor. Throws ConvertError for any other type, and where
  /// there is no such tensor.
  std::vector<float> read_float(std::string_view name) const;
  /// The values of a tensor of F64, F32, F16, BF16, I64, I32 or I8. Throws in the same way.
  std::vector<double> read_numbers(std::string_view name) const;
  /// The values of an I32 tensor. Throws in the same way.
  std::vector<std::int32_t> read_int32(std::string_view name) const;

 private:
  void map_file(const std::filesystem::path& path);
  void parse();
  const TensorInfo& required(std::string_view name) const;

  std::string file_;
  const std::byte* bytes_ = nullptr;  // the mapped file
  std::size_t size_ = 0;
  std::size_t data_start_ = 0;
  std::map<std::string, TensorInfo, std::less<>> tensors_;
};

}  // namespace embert::convert
