// SPDX-License-Identifier: Apache-2.0
#include "targets/serve/api/request_body.hpp"

#include <array>

#include "targets/serve/request_error.hpp"

namespace embert::serve {
namespace {

constexpr int kMostDepth = 6;
constexpr size_t kMostKeys = 64;  // of an object; keys are searched one by one

/// Looks at the values while they are parsed, so that what is refused takes no memory.
class BodyCheck {
 public:
  explicit BodyCheck(const Limits& limits) : texts_(limits.texts) {}

  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    if (depth > kMostDepth) refuse(400, "the JSON has more than 6 levels");
    const auto level = static_cast<size_t>(depth);
    const bool is_text = parsed.is_string();
    switch (event) {
      case Json::parse_event_t::key:
        if (++keys_[level] > kMostKeys) refuse(400, "an object has more than 64 keys");
        break;
      case Json::parse_event_t::object_start:
        keys_[level + 1] = 0;
        count_value();
        break;
      case Json::parse_event_t::array_start:
        count_value();
        break;
      case Json::parse_event_t::value:
        if (is_text) count_value();
        break;
      default:
        return true;
    }
    if (is_text && parsed.get_ref<const std::string&>().find('\0') != std::string::npos) {
      refuse(400, "a text has a NUL character");
    }
    return true;
  }

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

  size_t texts_;
  size_t values_ = 0;
  std::array<size_t, kMostDepth + 2> keys_ = {};
};

}  // namespace

Json checked_body(std::string_view body, const Limits& limits) {
  // The parser takes a NUL for the end.
  if (body.find('\0') != std::string_view::npos) {
    throw RequestError(400, "bad_json", "the body has a NUL byte");
  }
  BodyCheck check(limits);
  try {
    Json object = Json::parse(body, std::ref(check));
    if (!object.is_object()) throw RequestError(400, "bad_json", "the body is no JSON object");
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
