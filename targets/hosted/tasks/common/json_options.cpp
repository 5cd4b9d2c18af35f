// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/common/json_options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "targets/hosted/hosted_error.hpp"

namespace embert::hosted {

/// The beginning of what a caller wrote, for a message.
static std::string shown(const std::string& text) {
  constexpr size_t kMost = 100;
  return one_line(text.substr(0, kMost)) + (text.size() > kMost ? "..." : "");
}

JsonOptions::JsonOptions(const std::string& task, const char* json)
    : JsonOptions(task, json != nullptr ? parse_json(json) : Json::object()) {}

JsonOptions::JsonOptions(const std::string& task, Json object)
    : task_(task), object_(std::move(object)) {
  if (!object_.is_object()) {
    throw UsageError(task_ + ": options is no JSON object " + kJsonLimits);
  }
}

std::optional<Json> JsonOptions::take(const char* name) {
  known_.emplace_back(name);
  const auto found = object_.find(name);
  if (found == object_.end()) return {};
  return std::move(*found);
}

void JsonOptions::refuse(const char* name, const Json& value, const std::string& expected) const {
  throw UsageError(task_ + ": " + name + " is " + shown(json_line(value)) + "; it takes " +
                   expected);
}

void JsonOptions::take(const char* name, bool& value) {
  const std::optional<Json> given = take(name);
  if (!given) return;
  if (!given->is_boolean()) refuse(name, *given, "true or false");
  value = given->get<bool>();
}

void JsonOptions::take(const char* name, double& value) {
  const std::optional<Json> given = take(name);
  if (!given) return;
  if (!given->is_number()) refuse(name, *given, "a number");
  value = given->get<double>();
}

void JsonOptions::take(const char* name, std::optional<double>& value) {
  double given = value.value_or(std::numeric_limits<double>::quiet_NaN());
  take(name, given);
  if (!std::isnan(given)) value = given;
}

void JsonOptions::take(const char* name, std::string& value) {
  const std::optional<Json> given = take(name);
  if (!given) return;
  if (!given->is_string()) refuse(name, *given, "a text");
  value = given->get<std::string>();
}

void JsonOptions::take(const char* name, std::vector<std::string>& value) {
  const std::optional<Json> given = take(name);
  if (!given) return;
  const auto is_text = [](const Json& entry) { return entry.is_string(); };
  if (!given->is_array() || !std::all_of(given->begin(), given->end(), is_text)) {
    refuse(name, *given, "an array of texts");
  }
  value = given->get<std::vector<std::string>>();
}

void JsonOptions::take(const char* name, std::optional<uint32_t>& value, Range range) {
  const std::optional<Json> given = take(name);
  if (!given) return;
  const bool is_whole = given->is_number_unsigned();
  const uint64_t whole = is_whole ? given->get<uint64_t>() : 0;
  if (!is_whole || whole < range.lowest || whole > range.highest) {
    refuse(name, *given,
           "a whole number from " + std::to_string(range.lowest) + " to " +
               std::to_string(range.highest));
  }
  value = static_cast<uint32_t>(whole);
}

void JsonOptions::take(const char* name, uint32_t& value, Range range) {
  std::optional<uint32_t> given;
  take(name, given, range);
  value = given.value_or(value);
}

void JsonOptions::finish() const {
  for (const auto& option : object_.items()) {
    if (std::find(known_.begin(), known_.end(), option.key()) != known_.end()) continue;
    std::string names;
    for (const std::string& name : known_) names += (names.empty() ? "" : ", ") + name;
    throw UsageError(task_ + ": unknown option \"" + shown(option.key()) + "\"; " +
                     (names.empty() ? "it takes none" : "there are " + names));
  }
}

}  // namespace embert::hosted
