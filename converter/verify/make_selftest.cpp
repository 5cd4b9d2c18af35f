// SPDX-License-Identifier: Apache-2.0
#include "converter/verify/make_selftest.hpp"

#include <algorithm>
#include <cstring>

#include "converter/verify/integer_model.hpp"
#include "converter/verify/tokenize_texts.hpp"

namespace embert::convert {
namespace {

// Composed and decomposed accents, Greek, Chinese, digits and punctuation: every table of the
// tokenizer takes part.
constexpr std::string_view kSelftestText =
    "Self-test: na\xc3\xafve cafe\xcc\x81, \xce\xa9 \xe4\xbd\xa0\xe5\xa5\xbd 3.14 Ready?";

struct Selftest {
  std::vector<std::int32_t> ids;
  std::string_view text;  // empty: the ids are all there is
};

std::vector<std::uint8_t> selftest_bytes(const Selftest& test, std::uint32_t checksum) {
  const BlobSelftest record = {checksum, static_cast<std::uint32_t>(test.ids.size())};
  const std::size_t ids_bytes = test.ids.size() * sizeof(test.ids[0]);
  std::vector<std::uint8_t> bytes(sizeof(record) + ids_bytes + test.text.size());
  std::memcpy(bytes.data(), &record, sizeof(record));
  std::memcpy(bytes.data() + sizeof(record), test.ids.data(), ids_bytes);
  std::ranges::copy(test.text,
                    bytes.begin() + static_cast<std::ptrdiff_t>(sizeof(record) + ids_bytes));
  return bytes;
}

Selftest choose_selftest(const ModelConfig& config, const BlobExtras& extras) {
  const int tokens =
      std::min(static_cast<int>(kMaxSelftestTokens), static_cast<int>(extras.max_tokens));
  const int vocabulary = std::min(config.first().vocab_size, config.last().vocab_size);
  Selftest test{.ids = {}, .text = kSelftestText};
  if (!extras.tokenizer.empty()) {
    test.ids = tokenize_texts(extras.tokenizer, config.first(), tokens, {&test.text, 1}).ids;
  }
  if (!test.ids.empty() && std::ranges::max(test.ids) < vocabulary) return test;
  test.text = {};
  test.ids.resize(static_cast<std::size_t>(tokens));
  for (int i = 0; i < tokens; ++i) {  // evenly over the vocabulary
    test.ids[static_cast<std::size_t>(i)] =
        static_cast<std::int32_t>(std::int64_t{vocabulary} * i / tokens);
  }
  return test;
}

}  // namespace

std::vector<std::uint8_t> make_selftest(const QuantizedModel& model, const ModelConfig& config,
                                        BlobExtras extras) {
  if (config.stacks.size() == 1 && config.last().cross_hidden_size > 0) return {};
  const Selftest test = choose_selftest(config, extras);
  // The runtime itself computes the checksum, on a blob that expects 0.
  extras.selftest = selftest_bytes(test, 0);
  return selftest_bytes(test, IntegerModel(write_blob(model, extras), {}).selftest());
}

}  // namespace embert::convert
