// SPDX-License-Identifier: Apache-2.0
// nlohmann's parser with the checks that it leaves to its callers, and the typed getters.
#include "converter/import/json_file.hpp"

#include <cmath>
#include <limits>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "converter/files/read_file.hpp"

namespace embert::convert {
namespace {

// nlohmann's messages begin with "[json.exception.parse_error.101] parse error at line 1, ...":
// keeps the text after the bracket.
std::string parser_message(const char* what) {
  std::string_view text = what;
  if (const std::size_t end = text.find("] "); end != std::string_view::npos) {
    text.remove_prefix(end + 2);
  }
  return printable(text, 200);
}

// nlohmann's parser calls it for every event. It throws as soon as the document breaks a rule. A
// pass of its own: Json::parse with a callback searches the whole array around each object at its
// end, which takes quadratic time.
class DocumentCheck {
 public:
  DocumentCheck(const std::string& file, const JsonLimits& limits) : file_(file), limits_(limits) {}

  bool null() { return count(); }
  bool boolean(bool) { return count(); }
  bool number_integer(Json::number_integer_t) { return count(); }
  bool number_unsigned(Json::number_unsigned_t) { return count(); }
  bool number_float(Json::number_float_t, const std::string&) { return count(); }
  bool string(const std::string&) { return count(); }
  bool binary(const Json::binary_t&) { return count(); }
  bool start_array(std::size_t) { return begin(); }
  bool end_array() {
    --depth_;
    return true;
  }
  bool start_object(std::size_t) {
    keys_.emplace_back();
    return begin();
  }
  bool end_object() {
    --depth_;
    keys_.pop_back();
    return true;
  }
  bool key(const std::string& key) {
    if (!keys_.back().insert(key).second) {
      throw ConvertError(file_ + ": key \"" + printable(key) +
                         "\" is there twice; keys of one JSON object must differ");
    }
    return count();
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) const {
    throw ConvertError(file_ + ": not valid JSON: " + parser_message(error.what()));
  }

 private:
  bool count() {
    if (++values_ > limits_.max_values) {
      throw ConvertError(file_ + ": more than " + std::to_string(limits_.max_values) +
                         " JSON values; this is no file of a model");
    }
    return true;
  }
  bool begin() {
    if (++depth_ > limits_.max_depth) {
      throw ConvertError(file_ + ": JSON is nested deeper than " +
                         std::to_string(limits_.max_depth) + " levels");
    }
    return count();
  }

  const std::string& file_;
  const JsonLimits& limits_;
  std::vector<std::set<std::string>> keys_;  // of the objects that are not closed yet
  std::size_t values_ = 0;
  int depth_ = 0;
};

[[noreturn]] void too_large(const std::string& file, std::uintmax_t bytes, std::size_t max_bytes) {
  throw ConvertError(file + ": " + std::to_string(bytes) + " bytes of JSON; at most " +
                     std::to_string(max_bytes) + " are read");
}

}  // namespace

Json parse_json(std::string_view text, const std::string& file, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) too_large(file, text.size(), limits.max_bytes);
  DocumentCheck check(file, limits);
  Json::sax_parse(text, &check);
  return Json::parse(text);
}

bool file_exists(const std::filesystem::path& path) {
  // A link that leads nowhere, or a folder that may not be searched: opening it says what is wrong.
  std::error_code error;
  return std::filesystem::symlink_status(path, error).type() !=
         std::filesystem::file_type::not_found;
}

Json read_json_file(const std::filesystem::path& path, const std::string& file,
                    const JsonLimits& limits) {
  if (!file_exists(path)) throw ConvertError(file + ": file not found");
  const std::string text = read_file(path, file, limits.max_bytes);
  return parse_json(text, file, limits);
}

std::string describe_json(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array of " + std::to_string(value.size());
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace), 60);
}

JsonFields::JsonFields(const Json& object, std::string file)
    : object_(object), file_(std::move(file)) {
  if (!object_.is_object()) {
    throw ConvertError(file_ + ": expected a JSON object, found " + describe_json(object_));
  }
}

const Json* JsonFields::find(const char* key) const {
  const auto at = object_.find(key);
  return at == object_.end() || at->is_null() ? nullptr : &*at;
}

bool JsonFields::is_null(const char* key) const {
  const auto at = object_.find(key);
  return at != object_.end() && at->is_null();
}

const Json& JsonFields::required(const char* key) const {
  const Json* value = find(key);
  if (value == nullptr) throw ConvertError(file_ + ": \"" + key + "\" is missing");
  return *value;
}

void JsonFields::wrong(const char* key, const std::string& expected, const Json& found) const {
  throw ConvertError(file_ + ": \"" + key + "\" must be " + expected + ", found " +
                     describe_json(found));
}

std::int64_t JsonFields::to_int(const char* key, const Json& value, std::int64_t min,
                                std::int64_t max) const {
  const bool fits_int64 =
      value.is_number_integer() &&
      !(value.is_number_unsigned() &&
        value.get<std::uint64_t>() >
            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  const std::int64_t number = fits_int64 ? value.get<std::int64_t>() : 0;
  if (!fits_int64 || number < min || number > max) {
    wrong(key, "a whole number from " + std::to_string(min) + " to " + std::to_string(max), value);
  }
  return number;
}

std::int64_t JsonFields::get_int(const char* key, std::int64_t min, std::int64_t max) const {
  return to_int(key, required(key), min, max);
}

std::int64_t JsonFields::get_int(const char* key, std::int64_t min, std::int64_t max,
                                 std::int64_t absent) const {
  const Json* value = find(key);
  return value == nullptr ? absent : to_int(key, *value, min, max);
}

double JsonFields::get_number(const char* key, double absent) const {
  const Json* value = find(key);
  if (value == nullptr) return absent;
  if (!value->is_number() || !std::isfinite(value->get<double>())) wrong(key, "a number", *value);
  return value->get<double>();
}

bool JsonFields::get_bool(const char* key, bool absent) const {
  const Json* value = find(key);
  if (value == nullptr) return absent;
  if (!value->is_boolean()) wrong(key, "true or false", *value);
  return value->get<bool>();
}

std::string JsonFields::get_string(const char* key) const {
  const Json& value = required(key);
  if (!value.is_string()) wrong(key, "a string", value);
  return value.get<std::string>();
}

std::string JsonFields::get_string(const char* key, const std::string& absent) const {
  return find(key) == nullptr ? absent : get_string(key);
}

}  // namespace embert::convert
