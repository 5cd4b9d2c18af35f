// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/support/folder_input.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "converter/model/code_points.hpp"

namespace embert::fuzz {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostData = 1 << 16;

bool is_inner_name(const std::string& name) {
  if (name.empty() || name.size() > 100 || name.find('\0') != std::string::npos) return false;
  const std::filesystem::path path(name);
  return path.is_relative() && path.has_filename() &&
         std::ranges::none_of(path, [](const auto& part) { return part == ".." || part == "."; });
}

/// Bytes of data that the header's tensors ask for.
std::uint64_t data_bytes(const json& header) {
  std::uint64_t bytes = 0;
  for (const json& tensor : header) {
    if (!tensor.is_object()) continue;
    const auto offsets = tensor.find("data_offsets");
    if (offsets == tensor.end() || !offsets->is_array() || offsets->size() != 2) continue;
    const json& end = offsets->back();
    if (end.is_number_unsigned()) bytes = std::max(bytes, end.get<std::uint64_t>());
  }
  return std::min(bytes, kMostData);
}

/// `size` bytes that repeat those of a list; zeros without one.
std::string repeated(const json& list, std::size_t size) {
  std::string bytes(size, '\0');
  if (!list.is_array() || list.empty()) return bytes;
  for (std::size_t i = 0; i < size; ++i) {
    const json& value = list[i % list.size()];
    if (value.is_number_integer()) bytes[i] = static_cast<char>(value.get<std::uint64_t>());
  }
  return bytes;
}

/// The bytes whose Latin-1 text this is: JSON itself holds UTF-8 alone.
std::string from_latin1(const std::string& text) {
  std::string bytes;
  for (const std::uint32_t c : convert::code_points(text)) bytes += static_cast<char>(c & 255);
  return bytes;
}

std::string content_of(const std::string& name, const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.size() == 1 && value.contains(kBytesKey) &&
      value[kBytesKey].is_string()) {
    return from_latin1(value[kBytesKey].get<std::string>());
  }
  const auto text_of = [](const json& document) {
    return document.dump(-1, ' ', false, json::error_handler_t::replace);
  };
  if (!name.ends_with(".safetensors") || !value.is_object()) return text_of(value);
  json header = value;
  const json data = header.value(kDataKey, json());
  header.erase(kDataKey);
  return test::safetensors_bytes(text_of(header), repeated(data, data_bytes(header)));
}

}  // namespace

bool write_folder(const std::uint8_t* data, std::size_t size, const test::TempFolder& folder) {
  const json files = json::parse(data, data + size, nullptr, false);
  if (!files.is_object()) return false;
  for (const auto& [name, value] : files.items()) {
    if (!is_inner_name(name)) continue;
    try {
      folder.write(name, content_of(name, value));
    } catch (const std::exception&) {
      return false;  // two names of which one is a folder of the other
    }
  }
  return true;
}

}  // namespace embert::fuzz
