// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/support/section_check.hpp"

#include <set>
#include <string>

#include "converter/export/write_tokenizer_section.hpp"
#include "tests/fuzz/support/check_text.hpp"
#include "tests/fuzz/support/require.hpp"
#include "tests/runtime/tokenizer/tokenizer_harness.hpp"

namespace embert::fuzz {

void check_section_of(const convert::TokenizerSpec& spec) {
  const std::set<std::string> different(spec.tokens.begin(), spec.tokens.end());
  require(different.size() == spec.tokens.size(), "tokens differ");
  const test::Section section(convert::write_tokenizer_section(spec));
  TokenizerView view;
  const TokenizerStatus status = section.open(&view);
  require(status == TokenizerStatus::kOk, tokenizer_status_name(status));
  std::string input(sizeof(CallBytes), '\x05');
  input += "aaab Hello  <mask> caf\u00e9 e\u0301 \u4e2d\u56fd [MASK]\xff don't ``12''\n ";
  for (std::size_t i = 0; i < spec.tokens.size() && i < 8; ++i) input += spec.tokens[i];
  check_text(view, TextCall(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()));
}

}  // namespace embert::fuzz
