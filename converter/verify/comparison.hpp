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

/// The answers of a task that Comparison counts as equal or differing between the two models.
enum class AnswerKind {
  kNone,      ///< embeddings, and scores of several labels
  kLabel,     ///< the label with the largest logit
  kLabelSet,  ///< of multi-label models the labels with positive logits
  kEntity,    ///< each entity that either model finds in a text: tokens and kind must be equal
  kSpan,      ///< first and last token of the best answer of at most 15 tokens
  kChoice,    ///< of each kChoices texts in turn the one with the largest logit
  kToken      ///< the token with the largest logit
};
/// Plural: "labels".
const char* answer_name(AnswerKind kind);
inline constexpr std::size_t kChoices = 4;

/// A text with one of the largest differences.
struct WorstText {
  std::size_t text = 0;  ///< number in the batch
  double cosine = 1;     ///< of its embedding or logits
  /// With a task head: the float model's logit of its own answer minus that of int8's answer, for
  /// tags the largest such difference of a token.
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
  /// choose_planes() and the tests compare levels of precision by this error. For embeddings it is
  /// the mean of 1 - cosine; for logits it is half of the squared error of all texts, as a share of
  /// their squares, because one text with logits near zero can be half of a mean of cosines.
  double error = 0;
  std::vector<double> cosines;  ///< [texts]
  /// With a task head: share of equal answers. 1 where there are none.
  AnswerKind answer_kind = AnswerKind::kNone;
  std::size_t answers = 0, differing_answers = 0;
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
  /// Refers to `config`. Calls `see` with each text, if there is one. `special`: ids of tokens that
  /// are in no entity.
  explicit Comparison(const ModelConfig& config, SeeText see = {},
                      std::vector<std::int32_t> special = {});

  Compared compared() const { return result_.compared; }
  /// The next text, in rows of `width`: one row, or for token logits one for each token.
  /// `reference` is the float model's, the runtime's is real = value * scale. `ids` of the tokens
  /// are only read where the constructor got special ones.
  void add(std::span<const double> reference, std::span<const std::int32_t> values,
           std::size_t width, double scale, std::span<const std::int32_t> ids = {});
  /// The result over all texts, at least one. Call it once.
  VerifyResult take(const VerifyOptions& options);

 private:
  /// Both models' logits of a text.
  struct Logits {
    std::span<const double> float32;
    std::span<const std::int32_t> int8;
    std::size_t width;

    Logits row(std::size_t number) const {
      return {float32.subspan(number * width, width), int8.subspan(number * width, width), width};
    }
    std::size_t rows() const { return int8.size() / width; }
  };
  void compare_answers(const Logits& logits, std::span<const std::int32_t> ids, WorstText& text);
  void compare_label(const Logits& logits, WorstText& text);
  void compare_entities(const Logits& logits, std::span<const std::int32_t> ids, WorstText& text);
  void compare_spans(const Logits& logits, WorstText& text);
  void compare_choices();
  void count(bool agrees) { count(1, agrees ? 0 : 1); }
  void count(std::size_t answers, std::size_t differing) {
    result_.answers += answers;
    result_.differing_answers += differing;
  }

  const ModelConfig& config_;
  SeeText see_;
  std::vector<std::int32_t> special_;
  double logit_errors_ = 0, logit_squares_ = 0;  // sums of squares
  VerifyResult result_;
  // Of kChoice: both logits of the texts that wait for the others of their group.
  std::vector<double> float_scores_;
  std::vector<std::int32_t> int8_scores_;
  std::vector<WorstText> texts_;
};

}  // namespace embert::convert
