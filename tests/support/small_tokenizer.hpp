// SPDX-License-Identifier: Apache-2.0
// A small vocabulary of the repository's own with added tokens, for tests that read no files.
#pragma once

#include "converter/model/tokenizer_spec.hpp"

namespace embert::test {

convert::TokenizerSpec small_spec();

}  // namespace embert::test
