// SPDX-License-Identifier: Apache-2.0
// Checks the rules of the safetensors format one after the other, and converts its float types to
// float32.
#include "converter/import/weights/safetensors_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "converter/files/foreign_format.hpp"
#include "converter/import/json_file.hpp"

namespace embert::convert {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the file's values are little-endian and are copied as they are");

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxRank = 64;
// A header has about ten values per tensor: no model needs more than this, and parsing costs
// memory.
constexpr JsonLimits kHeaderLimits{
    .max_bytes = kMaxHeaderBytes, .max_depth = 4, .max_values = 2'000'000};

struct DtypeBits {
  std::string_view name;
  unsigned bits;
};

constexpr DtypeBits kDtypes[] = {{"BF16", 16},   {"BOOL", 8},    {"C64", 64},    {"F16", 16},
                                 {"F32", 32},    {"F4", 4},      {"F64", 64},    {"F6_E2M3", 6},
                                 {"F6_E3M2", 6}, {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8},
                                 {"I16", 16},    {"I32", 32},    {"I64", 64},    {"I8", 8},
                                 {"U16", 16},    {"U32", 32},    {"U64", 64},    {"U8", 8}};

unsigned dtype_bits(std::string_view name) {
  for (const DtypeBits& dtype : kDtypes) {
    if (dtype.name == name) return dtype.bits;
  }
  return 0;
}

float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1F;
  const std::uint32_t fraction = half & 0x3FF;
  if (exponent == 0) {  // zero and subnormals: fraction * 2^-24, exact in float32
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t bits = exponent == 31 ? sign | 0x7F800000 | (fraction << 13)
                                            : sign | ((exponent + 112) << 23) | (fraction << 13);
  return std::bit_cast<float>(bits);
}

float bfloat_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Parses one tensor's entry of the header; `where` is `file: tensor "name"`.
TensorInfo parse_entry(const Json& entry, const std::string& where) {
  if (!entry.is_object()) {
    throw ConvertError(where + ": expected an object with dtype, shape and data_offsets, found " +
                       describe_json(entry));
  }
  const JsonFields fields(entry, where);
  for (const auto& item : entry.items()) {
    if (item.key() != "dtype" && item.key() != "shape" && item.key() != "data_offsets") {
      throw ConvertError(where + ": unknown field \"" + printable(item.key()) +
                         "\"; a tensor has dtype, shape and data_offsets");
    }
  }
  const auto get_array = [&](const char* key) {
    const Json* list = fields.find(key);
    if (list == nullptr) throw ConvertError(where + ": \"" + key + "\" is missing");
    if (!list->is_array()) {
      throw ConvertError(where + ": \"" + key + "\" must be an array, found " +
                         describe_json(*list));
    }
    std::vector<std::uint64_t> values;
    for (const Json& value : *list) {
      if (!value.is_number_unsigned()) {
        throw ConvertError(where + ": \"" + key + "\" must hold whole numbers from 0 on, found " +
                           describe_json(value));
      }
      values.push_back(value.get<std::uint64_t>());
    }
    return values;
  };

  TensorInfo info;
  info.dtype = fields.get_string("dtype");
  const unsigned bits = dtype_bits(info.dtype);
  if (bits == 0) throw ConvertError(where + ": unknown dtype \"" + printable(info.dtype) + "\"");
  info.shape = get_array("shape");
  if (info.shape.size() > kMaxRank) {
    throw ConvertError(where + ": shape has " + std::to_string(info.shape.size()) +
                       " dimensions; at most " + std::to_string(kMaxRank) + " are read");
  }
  const std::vector<std::uint64_t> offsets = get_array("data_offsets");
  if (offsets.size() != 2) {
    throw ConvertError(where + ": data_offsets must be [begin, end], found " +
                       std::to_string(offsets.size()) + " numbers");
  }
  info.begin = offsets[0];
  info.end = offsets[1];
  if (info.begin > info.end) {
    throw ConvertError(where + ": data_offsets begin " + std::to_string(info.begin) +
                       " is after end " + std::to_string(info.end));
  }

  // Counted in bits, because some types are smaller than a byte.
  std::uint64_t total = bits;
  info.elements = 1;
  for (const std::uint64_t extent : info.shape) {
    if (__builtin_mul_overflow(info.elements, extent, &info.elements) ||
        __builtin_mul_overflow(total, extent, &total)) {
      throw ConvertError(where + ": the product of shape " + shape_text(info.shape) +
                         " does not fit 64 bits");
    }
  }
  if (total % 8 != 0) {
    throw ConvertError(where + ": shape " + shape_text(info.shape) + " of " + info.dtype +
                       " does not fill whole bytes");
  }
  if (total / 8 != info.end - info.begin) {
    throw ConvertError(where + ": shape " + shape_text(info.shape) + " of " + info.dtype + " is " +
                       std::to_string(total / 8) + " bytes, but data_offsets hold " +
                       std::to_string(info.end - info.begin));
  }
  return info;
}

}  // namespace

std::string shape_text(std::span<const std::uint64_t> shape) {
  std::string text = "[";
  for (const std::uint64_t extent : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(extent);
  }
  return text + "]";
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path, std::string file)
    : file_(std::move(file)) {
  if (!file_exists(path)) throw ConvertError(file_ + ": file not found");
  open_ = std::make_unique<OpenFile>(path, file_, std::numeric_limits<std::uint64_t>::max());
  if (const std::string format = foreign_format(open_->beginning());
      !format.empty() && !begins_as_safetensors(open_->beginning())) {
    throw ConvertError(file_ + ": " + format);
  }
  const std::string header = read_header();
  data_start_ = kLengthBytes + header.size();
  parse(header);
}

std::string SafetensorsFile::read_header() const {
  const std::uint64_t size = open_->bytes();
  if (size < kLengthBytes) {
    throw ConvertError(file_ + ": " + std::to_string(size) +
                       " bytes; a safetensors file begins with the 8-byte length of its header");
  }
  std::array<std::uint8_t, kLengthBytes> length = {};
  open_->read_at(0, length);
  const auto header_bytes = std::bit_cast<std::uint64_t>(length);
  if (header_bytes > kMaxHeaderBytes) {
    throw ConvertError(file_ + ": header of " + std::to_string(header_bytes) +
                       " bytes; the format allows " + std::to_string(kMaxHeaderBytes));
  }
  if (header_bytes > size - kLengthBytes) {
    throw ConvertError(file_ + ": header of " + std::to_string(header_bytes) +
                       " bytes does not fit the file of " + std::to_string(size) +
                       "; the file is cut off or no safetensors file");
  }
  std::string header(static_cast<std::size_t>(header_bytes), '\0');
  open_->read_at(kLengthBytes, {reinterpret_cast<std::uint8_t*>(header.data()), header.size()});
  if (header.empty() || header.front() != '{') {
    throw ConvertError(file_ + ": the header must begin with '{'");
  }
  return header;
}

void SafetensorsFile::parse(std::string_view header) {
  const std::uint64_t data_bytes = open_->bytes() - data_start_;

  const Json document = parse_json(header, file_ + ": header", kHeaderLimits);
  for (const auto& item : document.items()) {
    if (item.key() == "__metadata__") {
      if (!item.value().is_object()) {
        throw ConvertError(file_ + ": __metadata__ must be an object of strings, found " +
                           describe_json(item.value()));
      }
      for (const auto& entry : item.value().items()) {
        if (!entry.value().is_string()) {
          throw ConvertError(file_ + ": __metadata__ \"" + printable(entry.key()) +
                             "\" must be a string, found " + describe_json(entry.value()));
        }
      }
      continue;
    }
    tensors_.emplace(item.key(), parse_entry(item.value(),
                                             file_ + ": tensor \"" + printable(item.key()) + "\""));
  }

  // In the order of the data, each tensor must begin where the one before it ends: no holes, no
  // overlap.
  std::vector<const std::pair<const std::string, TensorInfo>*> order;
  for (const auto& entry : tensors_) order.push_back(&entry);
  std::ranges::sort(order, [](const auto* a, const auto* b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  std::uint64_t covered = 0;
  for (const auto* entry : order) {
    const TensorInfo& info = entry->second;
    const std::string where = file_ + ": tensor \"" + printable(entry->first) + "\"";
    if (info.end > data_bytes) {
      throw ConvertError(where + ": data_offsets end " + std::to_string(info.end) +
                         " is outside the " + std::to_string(data_bytes) +
                         " bytes of data; the file is cut off or damaged");
    }
    if (info.begin != covered) {
      throw ConvertError(where + ": data begins at " + std::to_string(info.begin) + ", expected " +
                         std::to_string(covered) +
                         (info.begin < covered ? "; tensors overlap" : "; there is a hole"));
    }
    covered = info.end;
  }
  if (covered != data_bytes) {
    throw ConvertError(file_ + ": " + std::to_string(data_bytes - covered) +
                       " bytes after the last tensor belong to no tensor");
  }
}

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
  const auto at = tensors_.find(name);
  return at == tensors_.end() ? nullptr : &at->second;
}

const TensorInfo& SafetensorsFile::required(std::string_view name) const {
  const TensorInfo* info = find(name);
  if (info == nullptr) {
    throw ConvertError(file_ + ": tensor \"" + printable(name) + "\" is missing");
  }
  return *info;
}

template <typename T>
std::vector<T> SafetensorsFile::read_values(const TensorInfo& info) const {
  std::vector<T> values(static_cast<std::size_t>(info.elements));
  open_->read_at(data_start_ + info.begin,
                 {reinterpret_cast<std::uint8_t*>(values.data()), values.size() * sizeof(T)});
  return values;
}

std::vector<float> SafetensorsFile::read_float(std::string_view name) const {
  const TensorInfo& info = required(name);
  if (info.dtype == "F32") return read_values<float>(info);
  if (info.dtype != "F16" && info.dtype != "BF16") {
    throw ConvertError(file_ + ": tensor \"" + printable(name) +
                       "\" must be F32, F16 or BF16, found " + info.dtype +
                       "; store the model in one of these types");
  }
  const std::vector<std::uint16_t> halves = read_values<std::uint16_t>(info);
  std::vector<float> values(halves.size());
  std::ranges::transform(halves, values.begin(),
                         info.dtype == "F16" ? half_to_float : bfloat_to_float);
  return values;
}

std::vector<double> SafetensorsFile::read_numbers(std::string_view name) const {
  const TensorInfo& info = required(name);
  const auto as_double = [](const auto& values) {
    std::vector<double> numbers;
    numbers.reserve(values.size());
    for (const auto value : values) numbers.push_back(static_cast<double>(value));
    return numbers;
  };
  if (info.dtype == "F64") return read_values<double>(info);
  if (info.dtype == "I64") return as_double(read_values<std::int64_t>(info));
  if (info.dtype == "I32") return as_double(read_values<std::int32_t>(info));
  if (info.dtype == "I8") return as_double(read_values<std::int8_t>(info));
  return as_double(read_float(name));
}

std::vector<std::int32_t> SafetensorsFile::read_int32(std::string_view name) const {
  const TensorInfo& info = required(name);
  if (info.dtype != "I32") {
    throw ConvertError(file_ + ": tensor \"" + printable(name) + "\" must be I32, found " +
                       info.dtype);
  }
  return read_values<std::int32_t>(info);
}

}  // namespace embert::convert
