// SPDX-License-Identifier: Apache-2.0
// The options of a task as a JSON object, with the names of the tool's long options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "targets/hosted/line_text.hpp"

namespace embert::hosted {

/// Each take() moves an option's value out, so it is called once for a name; it leaves `value` as
/// it is if there is no such option. They throw UsageError for a value of another type or out of
/// range.
class JsonOptions {
 public:
  /// json: null for no options. Throws UsageError for what is no JSON object that parse_json()
  /// reads.
  JsonOptions(const std::string& task, const char* json);
  /// object: what the caller has parsed.
  JsonOptions(const std::string& task, Json object);

  /// A value of any type.
  std::optional<Json> take(const char* name);
  void take(const char* name, bool& value);
  void take(const char* name, double& value);
  void take(const char* name, std::optional<double>& value);
  void take(const char* name, std::string& value);
  void take(const char* name, std::vector<std::string>& value);
  struct Range {
    uint32_t lowest, highest;
  };
  void take(const char* name, uint32_t& value, Range range);
  void take(const char* name, std::optional<uint32_t>& value, Range range);

  /// Throws UsageError for an option that nothing has taken.
  void finish() const;

 private:
  [[noreturn]] void refuse(const char* name, const Json& value, const std::string& expected) const;

  std::string task_;
  Json object_;
  std::vector<std::string> known_;  ///< names that were asked for
};

}  // namespace embert::hosted
