// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "converter/convert_error.hpp"

namespace embert::fuzz {

/// A refusal is one printable line.
void check_message(const convert::ConvertError& error);

}  // namespace embert::fuzz
