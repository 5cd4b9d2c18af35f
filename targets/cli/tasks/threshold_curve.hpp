// SPDX-License-Identifier: Apache-2.0
// Selective classification: how many texts a classifier answers, and how many of the answers are
// wrong, if it rejects those whose best score is below a threshold (El-Yaniv and Wiener 2010).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace embert::cli {

/// The score of a text that no threshold answers: it has no tokens, or its best label is the one
/// that stands for rejection.
inline constexpr double kNeverAnswered = -1;

/// A text as the classifier sees it.
struct ScoredText {
  double score;  ///< of the best label, 0 to 1, or kNeverAnswered
  bool right;    ///< the best label is the text's own
  bool known;    ///< the text is not to be rejected
};

struct ThresholdPoint {
  double threshold = 0;
  double coverage = 0;        ///< share of all texts that are answered
  double error = 0;           ///< share of the answered texts whose answer is wrong; 0 if none is
  double accuracy = 0;        ///< share of all texts that are answered rightly or rejected rightly
  double known_answered = 0;  ///< share of the known texts that are answered; 0 if there are none
  double unknown_answered = 0;  ///< share of the unknown texts that are answered
};

/// The points of the thresholds 0, 1/1000, ... 1, and of any other.
class ThresholdCurve {
 public:
  /// At least one text.
  explicit ThresholdCurve(std::vector<ScoredText> texts);

  ThresholdPoint at(double threshold) const;
  /// The lowest threshold with the best accuracy.
  ThresholdPoint most_accurate() const;
  /// The threshold with the largest coverage whose error is at most this; nothing if none has it
  /// and answers a text.
  std::optional<ThresholdPoint> within_error(double most_error) const;

 private:
  std::vector<ScoredText> texts_;  ///< by falling score
  /// [texts + 1] how many of the first texts are right, and known.
  std::vector<size_t> right_, known_;
};

}  // namespace embert::cli
