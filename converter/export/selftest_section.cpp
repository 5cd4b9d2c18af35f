// SPDX-License-Identifier: Apache-2.0
#include "converter/export/selftest_section.hpp"

#include <algorithm>
#include <cstring>

#include "converter/calibrate/tokens/calibration_tokens.hpp"
#include "converter/verify/integer_model.hpp"

namespace embert::convert {
namespace {

// Accents in both forms, two scripts of their own, digits and signs: every table of the tokenizer
// has its part in it.
constexpr std::string_view kText =
    "Self-test: na\xc3\xafve cafe\xcc\x81, \xce\xa9 \xe4\xbd\xa0\xe5\xa5\xbd 3.14 Ready?";

std::vector<std::uint8_t> section(std::uint32_t checksum, const std::vector<std::int32_t>& ids,
                                  std::string_view text) {
  const BlobSelftest record = {checksum, static_cast<std::uint32_t>(ids.size())};
  const std::size_t ids_bytes = ids.size() * sizeof(ids[0]);
  std::vector<std::uint8_t> bytes(sizeof(record) + ids_bytes + text.size());
  std::memcpy(bytes.data(), &record, sizeof(record));
  std::memcpy(bytes.data() + sizeof(record), ids.data(), ids_bytes);
  std::ranges::copy(text, bytes.begin() + static_cast<std::ptrdiff_t>(sizeof(record) + ids_bytes));
  return bytes;
}

}  // namespace

std::vector<std::uint8_t> make_selftest(const QuantizedModel& model, const ModelConfig& config,
                                        BlobExtras extras) {
  if (config.stacks.size() == 1 && config.last().cross_hidden_size > 0) return {};
  const int tokens =
      std::min(static_cast<int>(kMaxSelftestTokens), static_cast<int>(extras.max_tokens));
  const int words = std::min(config.first().vocab_size, config.last().vocab_size);
  std::string_view text = kText;
  std::vector<std::int32_t> ids;
  if (!extras.tokenizer.empty()) {
    ids = tokenize_texts(extras.tokenizer, config.first(), tokens, {&text, 1}).ids;
  }
  if (ids.empty() || std::ranges::max(ids) >= words) {
    text = {};
    ids.resize(static_cast<std::size_t>(tokens));
    for (int i = 0; i < tokens; ++i) {  // evenly over the vocabulary
      ids[static_cast<std::size_t>(i)] =
          static_cast<std::int32_t>(std::int64_t{words} * i / tokens);
    }
  }
  extras.selftest = section(0, ids, text);
  return section(IntegerModel(write_blob(model, extras), {}).selftest(), ids, text);
}

}  // namespace embert::convert
