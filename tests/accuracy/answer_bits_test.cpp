// SPDX-License-Identifier: Apache-2.0
// CRC-32C of all outputs over 500 texts: equal for every ISA extension of this machine, one and
// two threads, texts alone and in batches, and any content of the arena. It is printed, so that
// compare_builds.sh can compare compilers and optimisation levels on one blob: EMBERT_BITS_BLOBS
// names blobs, with ':' between them. Without it the bundled model is converted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "converter/verify/integer_model.hpp"
#include "tests/accuracy/accuracy_models.hpp"
#include "tests/support/synthetic_blob.hpp"
#include "tests/support/system/isa_masks.hpp"
#include "tests/support/test_corpora.hpp"

namespace embert::test {
namespace {

using convert::IntegerModel;
using convert::TokenBatch;

constexpr std::size_t kTexts = 500;
/// Of the synthetic model. It changes only if the arithmetic changes.
constexpr std::uint32_t kGoldenCrc = 0x49cdea62;

/// Bit by bit: independent of the CRC kernels under test.
std::uint32_t crc_bytes(std::uint32_t crc, const std::vector<std::int32_t>& values) {
  std::uint32_t r = ~crc;
  for (const std::int32_t value : values) {
    for (int shift = 0; shift < 32; shift += 8) {
      r ^= (static_cast<std::uint32_t>(value) >> shift) & 0xFF;
      for (int bit = 0; bit < 8; ++bit) r = (r >> 1) ^ ((r & 1) != 0 ? 0x82F63B78u : 0u);
    }
  }
  return ~r;
}

enum class Dirt { kZero, kAa, kRandom };

struct Setting {
  std::uint32_t isa = 0, threads = 1, batch = 1;
  Dirt dirt = Dirt::kZero;
};

std::uint32_t crc_of_outputs(std::span<const std::uint8_t> blob, const TokenBatch& texts,
                             const Setting& setting) {
  IntegerModel::Options options;
  options.isa_mask = setting.isa;
  options.threads = setting.threads;
  options.max_batch = setting.batch;
  options.max_tokens =
      static_cast<std::uint32_t>(*std::max_element(texts.lengths.begin(), texts.lengths.end()));
  IntegerModel model(blob, options);
  EXPECT_EQ(model.info().isa_mask & ~setting.isa, 0u);
  std::mt19937_64 random(7);
  for (std::uint8_t& byte : model.arena()) {
    byte = setting.dirt == Dirt::kZero ? 0
           : setting.dirt == Dirt::kAa ? 0xAA
                                       : static_cast<std::uint8_t>(random());
  }
  model.restart();
  const std::uint32_t crc = crc_bytes(0, model.last_hidden_state(texts).values);
  const bool classifier = model.info().num_labels > 0;
  return crc_bytes(crc, (classifier ? model.classify(texts) : model.embed(texts)).values);
}

/// The CRC of the scalar kernels, checked against everything else.
std::uint32_t same_crc_everywhere(std::span<const std::uint8_t> blob, const TokenBatch& texts) {
  const std::uint32_t expected = crc_of_outputs(blob, texts, {});
  const auto check = [&](const Setting& setting, const char* what) {
    EXPECT_EQ(crc_of_outputs(blob, texts, setting), expected)
        << embert_isa_name(setting.isa) << ", " << what;
  };
  for (const std::uint32_t isa : isa_masks()) {
    check({isa, 1, 1, Dirt::kZero}, "one thread, texts alone");
    check({isa, 1, 8, Dirt::kAa}, "batches of 8, arena of 0xAA");
    check({isa, 2, 7, Dirt::kRandom}, "two threads, batches of 7, arena of random bytes");
    // Slow on a busy machine, where the threads wait for each other ten times for each text.
    if (full_tests()) check({isa, 2, 1, Dirt::kAa}, "two threads, texts alone, arena of 0xAA");
  }
  if (full_tests()) check({0, 2, 5, Dirt::kRandom}, "two threads, batches of 5, random arena");
  return expected;
}

TEST(AnswerBits, OfAModelWithoutConverterAreTheCommittedOnes) {
  SyntheticModel shape;
  shape.vocab_size = 1000;
  shape.seed = 99;
  const AlignedBytes blob(make_synthetic_blob(shape));
  TokenBatch texts;
  std::mt19937_64 random(100);
  for (std::size_t i = 0; i < kTexts; ++i) {
    texts.lengths.push_back(1 + static_cast<std::int32_t>(random() % 24));
    for (std::int32_t t = 0; t < texts.lengths.back(); ++t) {
      texts.ids.push_back(static_cast<std::int32_t>(random() % shape.vocab_size));
      texts.type_ids.push_back(static_cast<std::int32_t>(random() % shape.type_vocab_size));
    }
  }
  const std::uint32_t crc = same_crc_everywhere({blob.data(), blob.size()}, texts);
  std::printf("CRC-32C synthetic %08x\n", crc);
  EXPECT_EQ(crc, kGoldenCrc);
}

/// Half of the accuracy test's texts, or sentences of the repository where there is no shared data.
std::vector<std::string> texts_for_bits() {
  std::vector<std::string> texts;
  if (shared_data_present()) {
    const auto listed = listed_texts();
    for (std::size_t i = 0; i < listed.size(); i += 2) texts.push_back(listed[i].text);
  } else {
    for (const LabelledText& line : intent_test_texts()) {
      if (texts.size() < kTexts) texts.push_back(line.text);
    }
  }
  return texts;
}

void check_blob(const std::string& name, std::span<const std::uint8_t> blob,
                std::uint32_t max_tokens) {
  SCOPED_TRACE(name);
  IntegerModel::Options options;
  options.max_tokens = max_tokens;
  const std::vector<std::string> texts = texts_for_bits();
  ASSERT_EQ(texts.size(), kTexts);
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const TokenBatch batch = IntegerModel(blob, options).tokenize(views);
  std::printf("CRC-32C %s %08x (%zu texts, %zu tokens)\n", name.c_str(),
              same_crc_everywhere(blob, batch), batch.lengths.size(), batch.ids.size());
}

TEST(AnswerBits, OfRealModelsAreTheSameEverywhere) {
  // Scalar kernels take a while: whole texts are run on request only.
  const std::uint32_t max_tokens = full_tests() ? 128 : 16;
  if (const char* names = std::getenv("EMBERT_BITS_BLOBS")) {
    std::istringstream in(names);
    for (std::string path; std::getline(in, path, ':');) {
      check_blob(std::filesystem::path(path).filename().string(), read_bytes(path), max_tokens);
    }
    return;
  }
  check_blob("tiny-intent", convert_folder(intent_folder(), convert::Rounding::kNearest),
             max_tokens);
}

}  // namespace
}  // namespace embert::test
