// SPDX-License-Identifier: Apache-2.0
#include "converter/verify/compared_output.hpp"

#include "converter/arithmetic/all_finite.hpp"
#include "converter/convert_error.hpp"
#include "converter/reference/float_vector.hpp"

namespace embert::convert {
namespace {

// The token of each text for which the language head runs: the one in the middle, because tokens at
// the ends are mostly special.
std::vector<std::size_t> asked_tokens(const TokenBatch& texts) {
  std::vector<std::size_t> asked;
  for (const std::int32_t length : texts.lengths) {
    asked.push_back(static_cast<std::size_t>(length) / 2);
  }
  return asked;
}

std::vector<double> widened(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

std::vector<double> compared_values(const FloatSource& source, Compared compared,
                                    const ModelBatch& batch) {
  ForwardOptions options;
  if (compared == Compared::kVocabularyLogits) {
    const std::vector<std::size_t> asked = asked_tokens(batch.texts);
    for (std::size_t i = 0, row = 0; i < asked.size(); ++i) {
      options.lm_rows.push_back(static_cast<std::int32_t>(row + asked[i]));
      row += static_cast<std::size_t>(batch.texts.lengths[i]);
    }
  }
  const ForwardOutput output = source.floats.forward_batch(batch, nullptr, options);
  switch (compared) {
    case Compared::kEmbeddings: {
      const auto hidden = static_cast<std::size_t>(source.folder.config.last().hidden_size);
      return float_vectors(source.folder.pooling, hidden, output.last_hidden_state,
                           batch.texts.lengths)
          .values;
    }
    case Compared::kLogits:
      return widened(output.logits);
    case Compared::kTokenLogits:
      return widened(output.token_logits);
    case Compared::kVocabularyLogits:
      break;
  }
  return widened(output.lm_logits);
}

}  // namespace

std::vector<double> float_output(const FloatSource& source, Compared compared,
                                 const ModelBatch& batch) {
  std::vector<double> values = compared_values(source, compared, batch);
  // The comparison sorts what follows from them.
  if (!all_finite(values)) {
    throw ConvertError(
        "model.safetensors: the float32 model gives values that are not finite; its weights are "
        "too large or damaged: compare the file with its source");
  }
  return values;
}

TextVectors integer_output(IntegerModel& integers, Compared compared, const ModelBatch& batch) {
  switch (compared) {
    case Compared::kEmbeddings:
      return integers.embed(batch);
    case Compared::kLogits:
      return integers.classify(batch);
    case Compared::kTokenLogits:
      return integers.classify_tokens(batch);
    case Compared::kVocabularyLogits:
      break;
  }
  return integers.lm_logits(batch, asked_tokens(batch.texts));
}

void add_texts(const OutputPair& outputs, const TokenBatch& texts, Comparison& comparison) {
  const auto& [floats, integers] = outputs;
  std::size_t at = 0, token = 0;
  for (const std::int32_t length : texts.lengths) {
    const auto tokens = static_cast<std::size_t>(length);
    const std::size_t rows = comparison.compared() == Compared::kTokenLogits ? tokens : 1;
    const std::size_t count = rows * integers.width;
    comparison.add({floats.data() + at, count}, {integers.values.data() + at, count},
                   integers.width, integers.scale, {texts.ids.data() + token, tokens});
    at += count;
    token += tokens;
  }
}

}  // namespace embert::convert
