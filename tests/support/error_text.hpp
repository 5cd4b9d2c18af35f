// SPDX-License-Identifier: Apache-2.0
// The message of the ConvertError that a call throws, for comparison with the exact text.
#pragma once

#include <string>

#include "converter/convert_error.hpp"

namespace embert::test {

/// what() of the ConvertError that `call` throws, or "no error". Other exceptions pass through and
/// fail the test.
template <typename Call>
std::string error_text(Call&& call) {
  try {
    call();
  } catch (const convert::ConvertError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace embert::test
