// SPDX-License-Identifier: Apache-2.0
#include "targets/serve/api/request_body.hpp"

#include <array>

#include "targets/hosted/json_events.hpp"
#include "targets/serve/memory_budget.hpp"
#include "targets/serve/request_error.hpp"

namespace embert::serve {
namespace {

constexpr size_t kMostDepth = 6;
constexpr size_t kMostKeys = 64;  // of an object; keys are searched one by one

/// nlohmann's parser calls it for every event; what is refused takes no memory.
class BodyCheck : public hosted::JsonEvents {
 public:
  explicit BodyCheck(const Limits& limits) : texts_(limits.texts) {}

  bool number_integer(Json::number_integer_t) { return count_number(); }
  bool number_unsigned(Json::number_unsigned_t) { return count_number(); }
  bool number_float(Json::number_float_t, const std::string&) { return count_number(); }
  bool string(const std::string& text) {
    count_value();
    return check_text(text);
  }
  bool start_array(size_t) { return begin(); }
  bool start_object(size_t) { return begin(); }
  bool end_array() { return end(); }
  bool end_object() { return end(); }
  bool key(const std::string& key) {
    if (++keys_[level_] > kMostKeys) refuse(400, "an object has more than 64 keys");
    return check_text(key);
  }

  size_t numbers() const { return numbers_; }

 private:
  [[noreturn]] static void refuse(int status, const std::string& message) {
    throw RequestError(status, status == 413 ? "too_many_texts" : "bad_json", message);
  }

  /// A text may be an object or a list of its own, so twice as many values are fine.
  void count_value() {
    constexpr size_t kOthers = 100;
    if (++values_ > 2 * texts_ + kOthers) {
      refuse(413, "the request has more than " + grouped(texts_) + " texts (--max-texts)");
    }
  }

  bool count_number() {
    ++numbers_;
    return true;
  }

  bool begin() {
    if (level_ == kMostDepth) refuse(400, "the JSON has more than 6 levels");
    keys_[++level_] = 0;
    count_value();
    return true;
  }

  bool end() {
    --level_;
    return true;
  }

  static bool check_text(const std::string& text) {
    if (text.find('\0') != std::string::npos) refuse(400, "a text has a NUL character");
    return true;
  }

  size_t texts_;
  size_t values_ = 0;
  size_t numbers_ = 0;
  size_t level_ = 0;
  std::array<size_t, kMostDepth + 1> keys_ = {};
};

}  // namespace

Json checked_body(std::string_view body, const Limits& limits) {
  // The parser takes a NUL for the end.
  if (body.find('\0') != std::string_view::npos) {
    throw RequestError(400, "bad_json", "the body has a NUL byte");
  }
  BodyCheck check(limits);
  try {
    Json::sax_parse(body, &check);
    RequestMemory::current().add(check.numbers() * kParsedBytesPerNumber);
    Json object = Json::parse(body);
    if (!object.is_object()) throw RequestError(400, "bad_json", "the body is no JSON object");
    for (auto field = object.begin(); field != object.end();) {
      field = field->is_null() ? object.erase(field) : std::next(field);
    }
    return object;
  } catch (const Json::parse_error& error) {
    throw RequestError(
        400, "bad_json",
        "the body is no JSON in UTF-8: byte " + std::to_string(error.byte) + " is wrong");
  } catch (const Json::exception&) {
    throw RequestError(400, "bad_json", "the body has a number out of range");
  }
}

}  // namespace embert::serve
