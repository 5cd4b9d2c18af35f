// SPDX-License-Identifier: Apache-2.0
// How good answers to questions are, as SQuAD 1.1 and 2.0 measure it (Rajpurkar et al. 2016, 2018).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "targets/hosted/convert/quality.hpp"

namespace embert::hosted {

/// The words that SQuAD compares: lower case, without ASCII punctuation and the articles a, an and
/// the. Capital letters are known of the Latin, Greek and Cyrillic scripts.
std::vector<std::string> answer_words(std::string_view answer);

/// 1 if both answers have the same words, else 0.
double exact_match(std::string_view right, std::string_view found);
/// F1 of the words that both have, each as often as it is in both. Two answers without words agree.
double answer_f1(std::string_view right, std::string_view found);

/// A question with its right answers, at least one; "" means that the context has none.
struct AnsweredQuestion {
  std::vector<std::string> right;
  std::string float32, int8;  ///< answers of the models
};

/// Means over the questions; each counts its best right answer.
struct SpanQuality {
  BothModels exact_match, f1;
  Loss loss;  ///< of F1
};
SpanQuality span_quality(const std::vector<AnsweredQuestion>& questions);

}  // namespace embert::hosted
