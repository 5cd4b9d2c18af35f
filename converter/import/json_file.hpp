// SPDX-License-Identifier: Apache-2.0
// JSON from untrusted files. Duplicate keys, deep nesting and huge documents are refused while
// parsing; the getters of JsonFields throw errors that name the file and the key. The document type
// is nlohmann's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "converter/convert_error.hpp"

namespace embert::convert {

using Json = nlohmann::json;

struct JsonLimits {
  std::size_t max_bytes = std::size_t{64} << 20;
  int max_depth = 32;                  ///< levels of nested objects and arrays
  std::size_t max_values = 8'000'000;  ///< keys and values in the whole document
};

/// Parses one document; `file` stands in messages. Throws ConvertError.
Json parse_json(std::string_view text, const std::string& file, const JsonLimits& limits = {});

/// Whether there is anything at `path`, even a link that leads nowhere; never throws.
bool file_exists(const std::filesystem::path& path);

/// Reads and parses a file; `file` stands in messages (usually the path within the model folder).
Json read_json_file(const std::filesystem::path& path, const std::string& file,
                    const JsonLimits& limits = {});

/// The fields of one JSON object. A field that is null counts as absent, because transformers
/// writes absent fields so. The object must outlive this.
class JsonFields {
 public:
  /// `file` names the object in messages. Throws ConvertError where `object` is no JSON object.
  JsonFields(const Json& object, std::string file);

  bool has(const char* key) const { return find(key) != nullptr; }
  /// Whether the field is there and null, for the few that mean something by it.
  bool is_null(const char* key) const;
  /// The field, or null when it is absent or null.
  const Json* find(const char* key) const;

  // The getters throw ConvertError for a value of another type or outside its range, and for a
  // missing field without a default (`absent`).
  /// A whole number in [min, max].
  std::int64_t get_int(const char* key, std::int64_t min, std::int64_t max) const;
  std::int64_t get_int(const char* key, std::int64_t min, std::int64_t max,
                       std::int64_t absent) const;
  /// A finite number.
  double get_number(const char* key, double absent) const;
  bool get_bool(const char* key, bool absent) const;
  std::string get_string(const char* key) const;
  std::string get_string(const char* key, const std::string& absent) const;

  const std::string& file() const { return file_; }

 private:
  const Json& required(const char* key) const;
  [[noreturn]] void wrong(const char* key, const std::string& expected, const Json& found) const;
  std::int64_t to_int(const char* key, const Json& value, std::int64_t min, std::int64_t max) const;

  const Json& object_;
  std::string file_;
};

/// A value as it stands in a message: short, printable JSON text.
std::string describe_json(const Json& value);

}  // namespace embert::convert
