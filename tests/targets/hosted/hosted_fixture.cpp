// SPDX-License-Identifier: Apache-2.0
#include "tests/targets/hosted/hosted_fixture.hpp"

#include <gtest/gtest.h>

#include <random>

namespace embert::test {
namespace {

void append(std::string& bytes, std::vector<uint64_t>& offsets,
            const std::vector<std::string>& texts) {
  offsets.push_back(0);
  for (const std::string& text : texts) {
    bytes += text;
    offsets.push_back(bytes.size());
  }
}

}  // namespace

ModelHandle open_model(const std::string& path, uint32_t threads) {
  embert_hosted_options options = {.size = sizeof(options)};
  options.threads = threads;
  embert_hosted* model = nullptr;
  EXPECT_EQ(embert_hosted_open(path.c_str(), &options, &model), EMBERT_HOSTED_OK)
      << embert_hosted_error();
  return ModelHandle(model);
}

Texts::Texts(const std::vector<std::string>& texts, const std::vector<std::string>& pairs) {
  append(bytes_, offsets_, texts);
  if (!pairs.empty()) append(pair_bytes_, pair_offsets_, pairs);
}

embert_hosted_texts Texts::view() const {
  embert_hosted_texts texts = {.size = sizeof(texts)};
  texts.count = offsets_.size() - 1;
  texts.bytes = bytes_.data();
  texts.offsets = offsets_.data();
  if (!pair_offsets_.empty()) {
    texts.pair_bytes = pair_bytes_.data();
    texts.pair_offsets = pair_offsets_.data();
  }
  return texts;
}

std::vector<std::string> random_texts(size_t count, uint32_t seed) {
  const std::vector<std::string> words = {"a",     "b",         "c",      "un",  "unaffable",
                                          "hello", "world",     "times",  "i",   "!",
                                          "zebra", "caf\u00e9", "[MASK]", "\xff"};
  std::mt19937 random(seed);
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) {
    std::string text;
    for (auto left = random() % 41; left > 0; --left) {
      text += words[random() % words.size()] + " ";
    }
    texts.push_back(text);
  }
  return texts;
}

std::vector<uint8_t> embed(embert_hosted* model, const embert_hosted_texts& texts,
                           const embert_hosted_vector_options& options) {
  size_t row = 0;
  EXPECT_EQ(embert_hosted_vector_bytes(model, &options, &row), EMBERT_HOSTED_OK)
      << embert_hosted_error();
  std::vector<uint8_t> vectors(texts.count * row, 0xAA);
  EXPECT_EQ(embert_hosted_embed(model, &texts, &options, vectors.data(), vectors.size()),
            EMBERT_HOSTED_OK)
      << embert_hosted_error();
  return vectors;
}

embert_hosted_vector_options vectors_as(embert_vector_format format) {
  embert_hosted_vector_options options = {.size = sizeof(options)};
  options.format = format;
  return options;
}

}  // namespace embert::test
