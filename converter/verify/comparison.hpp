// SPDX-License-Identifier: Apache-2.0
// How far the runtime's vectors are from the float model's, text by text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "converter/model/model_config.hpp"

namespace embert::convert {

/// 1 for two zero vectors, 0 if only one is zero. Single values have no direction: 1.
double cosine(std::span<const double> a, std::span<const std::int32_t> b);

/// The output of a model that is compared: that of its task head (the language head, where a model
/// has several), else the embedding of each text.
enum class Compared { kEmbeddings, kLogits, kTokenLogits, kVocabularyLogits };
const char* compared_name(Compared compared);

/// A text with one of the largest differences.
struct WorstText {
  std::size_t text = 0;  ///< number in the batch
  double cosine = 1;     ///< of its embedding or logits
  /// With a task head: the float model's logit of its own answer minus that of int8's answer; the
  /// largest such difference in the text.
  double margin = 0;
  std::int32_t float_label = -1, int8_label = -1;  ///< of a classifier, else -1
};

struct VerifyResult {
  std::size_t texts = 0, tokens = 0;
  Compared compared = Compared::kEmbeddings;
  /// Cosines between the texts' vectors: their embeddings, or their logits. A token classifier's
  /// text has the logits of all its tokens, a language model's those of one token in the middle.
  /// Cosine is reported as 1 for models with one logit.
  double cosine_mean = 1, cosine_p01 = 1, cosine_min = 1;
  std::vector<double> cosines;  ///< [texts]
  /// With a task head: share of equal answers. An answer is the label or token with the largest
  /// logit, of each text or token; of multi-label models the set of labels; in question answering
  /// where the answer starts and where it ends. 1 for regression, which has no answers to count.
  double agreement = 1;
  double logit_error_max = 0;  ///< largest difference of a logit
  /// Share of the texts with the right label, where VerifyOptions::labels has them.
  std::optional<double> accuracy_float, accuracy_int8;
  std::vector<WorstText> worst;  ///< worst first
  /// [layers + 1] for the first VerifyOptions::layer_texts texts: error of the hidden state before
  /// the first layer and behind each one, sqrt(power of the error / power of the state). Empty for
  /// pairs of stacks, decoders and static embeddings.
  std::vector<double> hidden_errors;
};

/// Both outputs of a text, in rows of `width`: one row, for token logits one for each token.
struct ComparedText {
  std::size_t text;  ///< number in the batch
  std::span<const double> float32;
  std::span<const std::int32_t> int8;  ///< real = value * scale
  std::size_t width;
  double scale;
};
using SeeText = std::function<void(const ComparedText& text)>;

struct VerifyOptions {
  std::size_t worst = 5;        ///< entries of VerifyResult::worst
  std::size_t layer_texts = 0;  ///< texts whose hidden states are compared, too
  /// The right label of each text, or empty.
  std::span<const std::int32_t> labels;
  /// Called with the number of texts that are compared, after each part. An exception that it
  /// throws ends the comparison.
  std::function<void(std::size_t done)> progress;
  SeeText see = {};  ///< called with each text, in order
};

/// Collects the differences text by text.
class Comparison {
 public:
  /// Refers to `config`. Calls `see` with each text, if there is one.
  explicit Comparison(const ModelConfig& config, SeeText see = {});

  Compared compared() const { return result_.compared; }
  /// The next text, in rows of `width`: one row, or for token logits one for each token.
  /// `reference` is the float model's, the runtime's is real = value * scale.
  void add(std::span<const double> reference, std::span<const std::int32_t> values,
           std::size_t width, double scale);
  /// The result over all texts, at least one. Call it once.
  VerifyResult take(const VerifyOptions& options);

 private:
  void compare_answer(std::span<const double> reference, std::span<const std::int32_t> values,
                      WorstText& text);
  void compare_answer_spans(std::span<const double> reference, std::span<const std::int32_t> values,
                            std::size_t width, WorstText& text);

  const ModelConfig& config_;
  SeeText see_;
  VerifyResult result_;
  std::size_t answers_ = 0, agreeing_ = 0;
  std::vector<WorstText> texts_;
};

}  // namespace embert::convert
