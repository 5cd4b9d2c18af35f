// SPDX-License-Identifier: Apache-2.0
// A check of JSON has a pass of its own: Json::parse with a callback searches the whole array
// around each object at its end, which takes quadratic time.
#pragma once

#include <string>

#include "targets/hosted/line_text.hpp"

namespace embert::hosted {

/// The events of nlohmann's SAX parser, of which each is accepted. A check inherits it and declares
/// those that it looks at.
struct JsonEvents {
  static bool null() { return true; }
  static bool boolean(bool) { return true; }
  static bool number_integer(Json::number_integer_t) { return true; }
  static bool number_unsigned(Json::number_unsigned_t) { return true; }
  static bool number_float(Json::number_float_t, const std::string&) { return true; }
  static bool string(const std::string&) { return true; }
  static bool binary(const Json::binary_t&) { return true; }
  /// Ends the pass. Json::parse() finds the fault again and says where it is.
  static bool parse_error(size_t, const std::string&, const Json::exception&) { return false; }
};

}  // namespace embert::hosted
