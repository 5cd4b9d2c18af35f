// SPDX-License-Identifier: Apache-2.0
#include "tests/converter/quantize/random_bert.hpp"

#include <string>

#include "converter/calibrate/tokens/random_tokens.hpp"
#include "converter/export/write_blob.hpp"
#include "converter/reference/float_model.hpp"
#include "converter/workers.hpp"

namespace embert::test {
namespace {

convert::ModelBatch random_batch(const convert::ModelConfig& config, std::size_t texts,
                                 std::uint64_t seed) {
  return convert::complete_batch(config, random_texts(config.first(), texts, seed), true,
                                 config.last().max_position_embeddings, seed + 1);
}

}  // namespace

RandomBert random_encoder(std::uint64_t seed, int labels) {
  convert::ModelConfig config;
  config.stacks = {small_stack()};
  if (labels > 0) config.classifier = convert::ClassifierTask::kSequenceClassification;
  for (int i = 0; i < labels; ++i) config.label_names.push_back(std::to_string(i));
  return RandomBert(config, seed);
}

convert::QuantizeResult quantize(const RandomBert& bert, int threads,
                                 const convert::QuantizeOptions& options) {
  convert::FloatModel floats(bert.config, bert.weights, threads);
  convert::Workers workers(threads);
  return convert::quantize_model({.config = bert.config,
                                  .weights = bert.weights,
                                  .floats = floats,
                                  .batch = random_batch(bert.config, 200, 7)},
                                 options, workers, {});
}

std::vector<std::uint8_t> blob_of(const RandomBert& bert, const convert::QuantizeResult& result) {
  convert::BlobExtras extras;
  extras.max_tokens = static_cast<std::uint32_t>(bert.config.last().max_position_embeddings);
  (result.model.token_classifier ? extras.token_labels : extras.labels) = bert.config.label_names;
  return convert::write_blob(result.model, extras);
}

convert::VerifyResult agreement(const RandomBert& bert, std::span<const std::uint8_t> blob) {
  convert::ModelFolder folder;
  folder.config = bert.config;
  folder.weights = bert.weights;
  convert::FloatModel floats(bert.config, bert.weights, 1);
  convert::IntegerModel integers(blob, {});
  return convert::verify(folder, floats, integers, random_batch(bert.config, 24, 99));
}

convert::VerifyResult agreement(const RandomBert& bert) {
  return agreement(bert, blob_of(bert, quantize(bert)));
}

}  // namespace embert::test
