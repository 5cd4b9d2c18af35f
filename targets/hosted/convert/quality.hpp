// SPDX-License-Identifier: Apache-2.0
// How good float32 and int8 are at a task, measured on texts with right answers, and what int8
// loses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace embert::hosted {

/// A measure of both models; larger is better.
struct BothModels {
  double float32 = 0, int8 = 0;
};

/// The loss of int8 against float32, and the interval in which it lies with 95 % confidence.
struct Loss {
  double value = 0, low = 0, high = 0;
};

/// The loss on some of the items of a file: [any number], an item may come several times.
using LossOfSample = std::function<double(std::span<const size_t> items)>;
/// The loss on all `items`, with the percentile interval (Efron and Tibshirani 1993) of 1,000
/// seeded samples of them. Both models answer the same sample, as in Koehn's paired bootstrap
/// (2004). The interval has no width if no sample shows a loss.
Loss bootstrapped_loss(size_t items, const LossOfSample& loss_of);

struct LabelQuality {
  BothModels accuracy;
  /// The mean over the labels that texts have of F1 = 2 TP / (2 TP + FP + FN).
  BothModels f1_macro;
  Loss loss;  ///< of accuracy
};

/// The labels [texts] that are right, and those that the models give. The interval of the loss is
/// that for matched proportions of Agresti and Min (2005): the two models read the same texts, and
/// it has a width where no text differs, too.
struct LabelAnswers {
  std::span<const int32_t> right, float32, int8;
};
LabelQuality label_quality(const LabelAnswers& answers);

struct ScoreQuality {
  BothModels spearman;
  Loss loss;
};

/// Scores [pairs] that people gave, and those of the models.
struct PairScores {
  std::vector<double> gold, float32, int8;
};
ScoreQuality score_quality(const PairScores& scores);

/// The correlation of ranks; equal values share their mean rank. 0 if all values of one are equal.
double spearman(std::span<const double> a, std::span<const double> b);

}  // namespace embert::hosted
