// SPDX-License-Identifier: Apache-2.0
// How far what the runtime gives is from what the float model gives, text by text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "converter/model/model_config.hpp"

namespace embert::convert {

/// What of a model is compared: what its head says (of several heads the language head), or else
/// the embedding of each text.
enum class Compared { kEmbeddings, kLogits, kTokenLogits, kWordLogits };
const char* compared_name(Compared compared);

/// A text on which the two differ most.
struct WorstText {
  std::size_t text = 0;  ///< number in the batch
  double cosine = 1;     ///< of its embedding or logits
  /// Of heads: by how much the float model prefers its answer to int8's, where most in the text.
  double margin = 0;
  std::int32_t float_label = -1, int8_label = -1;  ///< of a classifier, else -1
};

struct VerifyResult {
  std::size_t texts = 0, tokens = 0;
  Compared compared = Compared::kEmbeddings;
  /// Of the texts' embeddings; or of their logits: of token classifiers those of all tokens, of
  /// language models those of one token in the middle. A lone logit has no direction: 1.
  double cosine_mean = 1, cosine_p01 = 1, cosine_min = 1;
  std::vector<double> cosines;  ///< [texts]
  /// Of heads: share of the same answers, which are a label or word of each text or token
  /// (multi-label: the set of labels; question answering: where it starts and ends; regression:
  /// nothing to count, 1), and the largest difference of a logit.
  double agreement = 1;
  double logit_error_max = 0;
  /// Share of the texts with the right label, where labels were given.
  std::optional<double> accuracy_float, accuracy_int8;
  std::vector<WorstText> worst;  ///< worst first
};

struct VerifyOptions {
  std::size_t worst = 5;
  /// Right label of each text, or empty.
  std::span<const std::int32_t> labels;
};

/// Collects the texts' vectors.
class Comparison {
 public:
  /// Refers to `config`.
  explicit Comparison(const ModelConfig& config);

  Compared compared() const { return result_.compared; }
  /// The next text: rows of `width` values, real = value * scale. Embeddings, logits and word
  /// logits are one row, token logits one a token.
  void add(std::span<const double> reference, std::span<const std::int32_t> values,
           std::size_t width, double scale);
  /// Of all texts, at least one. Call it once.
  VerifyResult take(const VerifyOptions& options);

 private:
  void compare_answer(std::span<const double> reference, std::span<const std::int32_t> values,
                      WorstText& text);
  void compare_places(std::span<const double> reference, std::span<const std::int32_t> values,
                      std::size_t width, WorstText& text);

  const ModelConfig& config_;
  VerifyResult result_;
  std::size_t answers_ = 0, agreeing_ = 0;
  std::vector<WorstText> texts_;
};

}  // namespace embert::convert
