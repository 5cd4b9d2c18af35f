// SPDX-License-Identifier: Apache-2.0
// The frame of the programs that run any text through tokenizers: text_program.cpp has libFuzzer's
// functions. An input is CallBytes and a text.
#pragma once

#include "tests/fuzz/support/tokenizers.hpp"

namespace embert::fuzz {

/// Each program defines this: the tokenizers it runs texts through.
const Tokenizers& tokenizers();

}  // namespace embert::fuzz
