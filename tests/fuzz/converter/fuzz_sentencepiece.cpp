// SPDX-License-Identifier: Apache-2.0
// libFuzzer: a model file of sentencepiece is refused with a ConvertError, or the runtime runs the
// tokenizer. The first byte of an input says the family and ALBERT's settings.
#include "converter/import/tokenizer/sentencepiece/read_sentencepiece.hpp"

#include "converter/convert_error.hpp"
#include "tests/fuzz/support/check_message.hpp"
#include "tests/fuzz/support/section_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace embert;
  using Family = convert::SentencePieceSettings::Family;
  if (size == 0) return 0;
  constexpr Family kFamilies[] = {Family::kXlmRoberta, Family::kCamembert, Family::kAlbert};
  const convert::SentencePieceSettings settings = {.family = kFamilies[data[0] % 3],
                                                   .lowercase = (data[0] & 64) != 0,
                                                   .keep_accents = (data[0] & 128) != 0};
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    fuzz::check_section_of(convert::read_sentencepiece(bytes, "spiece.model", settings));
  } catch (const convert::ConvertError& error) {
    fuzz::check_message(error.what());
  }
  return 0;
}
