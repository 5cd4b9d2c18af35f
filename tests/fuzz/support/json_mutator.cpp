// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/support/json_mutator.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/fuzz/support/word_mutator.hpp"

namespace embert::fuzz {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 64;  // nlohmann's dump() calls itself for each level

void collect(json& value, std::vector<json*>& values) {
  values.push_back(&value);
  if (!value.is_structured()) return;
  for (json& item : value) collect(item, values);
}

/// Any value of the document. Every second time by a walk from its root, as in a long vocabulary
/// the settings beside it would hardly ever be picked.
json& pick(json& root, Random& random) {
  if (random.below(2) == 0) {
    std::vector<json*> values;
    collect(root, values);
    return *values[random.below(values.size())];
  }
  json* value = &root;
  while (value->is_structured() && !value->empty() && random.below(8) != 0) {
    value = &*std::next(value->begin(), static_cast<std::ptrdiff_t>(random.below(value->size())));
  }
  return *value;
}

json extreme_value(Random& random) {
  const json values[] = {nullptr,
                         true,
                         false,
                         0,
                         -1,
                         1,
                         0.5,
                         -1e300,
                         1e-310,
                         512,
                         65536,
                         (1 << 20) + 1,
                         INT32_MAX,
                         std::int64_t{1} << 31,
                         INT64_MAX,
                         INT64_MIN,
                         UINT64_MAX,
                         "",
                         std::string(1, '\0'),
                         "\u0301\U0001f600",
                         std::string(300, 'x'),
                         json::array(),
                         json::object()};
  return values[random.below(std::size(values))];
}

/// Sizes must often fit one another, such as a width and its divisors: powers of two do.
std::int64_t other_integer(const json& value, Random& random) {
  const auto number = value.get<std::uint64_t>();
  switch (random.below(3)) {
    case 0:
      return static_cast<std::int64_t>(number + random.below(5) - 2);
    case 1:
      return static_cast<std::int64_t>(number << random.below(10));
    default:
      return std::int64_t{1} << random.below(32);
  }
}

std::string mutate_text(std::string text, Random& random) {
  const std::size_t size = text.size();
  text.resize(size + 64);
  text.resize(mutate_bytes(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
  if (random.below(16) == 0 && text.size() < 64) text += text + text;
  return text;
}

/// Keys may be numbers, such as ids.
std::string mutate_key(const std::string& key, Random& random) {
  const bool is_number = !key.empty() && key.find_first_not_of("0123456789") == std::string::npos;
  if (is_number && random.below(2) == 0) {
    return std::to_string(random.below(std::size_t{1} << random.below(24)));
  }
  return mutate_text(key, random);
}

void change_members(json& value, const json& other, Random& random) {
  const std::size_t at = random.below(value.size());
  if (value.is_array()) {
    const auto item = value.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random.below(3)) {
      case 0:
        value.erase(item);
        return;
      case 1:
        value.push_back(json(*item));
        return;
      default:
        value.insert(item, other);
        return;
    }
  }
  const auto item = std::next(value.begin(), static_cast<std::ptrdiff_t>(at));
  const std::string key = item.key();
  const json content = item.value();
  switch (random.below(3)) {
    case 0:
      value.erase(key);
      return;
    case 1:
      value.erase(key);
      value[mutate_key(key, random)] = content;
      return;
    default:
      value[key + "2"] = content;
  }
}

void change(json& value, const json& other, Random& random) {
  switch (random.below(4)) {
    case 0:
      value = extreme_value(random);
      return;
    case 1:
      value = json(other);
      return;
    default:
      break;
  }
  if (value.is_string()) {
    value = mutate_text(value.get<std::string>(), random);
  } else if (value.is_number_integer()) {
    value = other_integer(value, random);
  } else if (value.is_number()) {
    value = value.get<double>() * (random.below(2) == 0 ? -1 : 1.0000001);
  } else if (value.is_boolean()) {
    value = !value.get<bool>();
  } else if (value.is_structured() && !value.empty()) {
    change_members(value, other, random);
  } else {
    value = extreme_value(random);
  }
}

}  // namespace

std::size_t mutate_json(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  Random random(seed);
  bool is_deep = false;
  const auto note_depth = [&is_deep](int depth, json::parse_event_t, json&) {
    is_deep = is_deep || depth > kMaxDepth;
    return !is_deep;
  };
  json root = json::parse(data, data + size, note_depth, false);
  if (root.is_discarded() || is_deep || random.below(8) == 0) {
    return mutate_bytes(data, size, max_size);
  }
  // Mostly one change; several at once get past checks that compare two values.
  for (std::size_t changes = random.below(3) == 0 ? 1 + random.below(4) : 1; changes > 0;
       --changes) {
    const json other = pick(root, random);
    change(pick(root, random), other, random);
  }
  const std::string text = root.dump(-1, ' ', random.below(2) == 0, json::error_handler_t::replace);
  if (text.size() > max_size) return mutate_bytes(data, size, max_size);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

}  // namespace embert::fuzz
