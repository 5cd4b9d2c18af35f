// SPDX-License-Identifier: Apache-2.0
#include "converter/verify/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace embert::convert {
double cosine(std::span<const double> a, std::span<const std::int32_t> b) {
  if (a.size() == 1) return 1;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i], y = b[i];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  if (aa == 0 && bb == 0) return 1;
  if (aa == 0 || bb == 0) return 0;
  return ab / (std::sqrt(aa) * std::sqrt(bb));
}

namespace {

template <typename T>
std::int32_t index_of_largest(std::span<const T> values) {
  return static_cast<std::int32_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

Compared what_to_compare(const ModelConfig& config) {
  if (config.language_head != LanguageHeadKind::kNone) return Compared::kVocabularyLogits;
  if (config.token_classifier != TokenTask::kNone) return Compared::kTokenLogits;
  if (config.classifier != ClassifierTask::kNone) return Compared::kLogits;
  return Compared::kEmbeddings;
}

}  // namespace

const char* compared_name(Compared compared) {
  switch (compared) {
    case Compared::kEmbeddings:
      return "embeddings";
    case Compared::kLogits:
      return "logits";
    case Compared::kTokenLogits:
      return "token logits";
    case Compared::kVocabularyLogits:
      return "word logits";
  }
  return "";
}

Comparison::Comparison(const ModelConfig& config, SeeText see)
    : config_(config), see_(std::move(see)) {
  result_.compared = what_to_compare(config);
}

void Comparison::add(std::span<const double> reference, std::span<const std::int32_t> values,
                     std::size_t width, double scale) {
  WorstText text;
  text.text = result_.cosines.size();
  text.cosine = cosine(reference, values);
  result_.cosines.push_back(text.cosine);
  if (result_.compared != Compared::kEmbeddings) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double real = values[i] * scale;
      result_.logit_error_max = std::max(result_.logit_error_max, std::abs(real - reference[i]));
    }
    if (result_.compared == Compared::kTokenLogits &&
        config_.token_classifier == TokenTask::kQuestionAnswering) {
      compare_answer_spans(reference, values, width, text);
    } else {
      for (std::size_t at = 0; at < values.size(); at += width) {
        compare_answer(reference.subspan(at, width), values.subspan(at, width), text);
      }
    }
  }
  texts_.push_back(text);
  if (see_) see_({text.text, reference, values, width, scale});
}

// Question answering: each label, start and end, has an answer, which is a token.
void Comparison::compare_answer_spans(std::span<const double> reference,
                                      std::span<const std::int32_t> values, std::size_t width,
                                      WorstText& text) {
  for (std::size_t label = 0; label < width; ++label) {
    std::vector<double> of_float;
    std::vector<std::int32_t> of_int8;
    for (std::size_t at = label; at < values.size(); at += width) {
      of_float.push_back(reference[at]);
      of_int8.push_back(values[at]);
    }
    compare_answer(of_float, of_int8, text);
  }
}

void Comparison::compare_answer(std::span<const double> reference,
                                std::span<const std::int32_t> values, WorstText& text) {
  const std::int32_t float_label = index_of_largest(reference),
                     int8_label = index_of_largest(values);
  text.margin = std::max(text.margin, reference[static_cast<std::size_t>(float_label)] -
                                          reference[static_cast<std::size_t>(int8_label)]);
  bool agrees = float_label == int8_label;
  if (result_.compared == Compared::kLogits) {
    text.float_label = float_label;
    text.int8_label = int8_label;
    if (config_.problem_type != ProblemType::kSingleLabel) agrees = true;
    if (config_.problem_type == ProblemType::kMultiLabel) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        agrees = agrees && (values[i] > 0) == (reference[i] > 0);
      }
    }
  }
  agreeing_ += agrees ? 1u : 0u;
  ++answers_;
}

VerifyResult Comparison::take(const VerifyOptions& options) {
  VerifyResult& r = result_;
  r.texts = r.cosines.size();
  std::vector<double> sorted = r.cosines;
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(r.texts);
  r.cosine_mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  r.cosine_p01 = sorted[(r.texts + 99) / 100 - 1];
  r.cosine_min = sorted.front();
  if (answers_ > 0) r.agreement = static_cast<double>(agreeing_) / static_cast<double>(answers_);
  if (r.compared == Compared::kLogits && options.labels.size() == r.texts) {
    const auto right = [&](std::int32_t WorstText::*label) {
      std::size_t n = 0;
      for (const WorstText& text : texts_) n += text.*label == options.labels[text.text] ? 1u : 0u;
      return static_cast<double>(n) / count;
    };
    r.accuracy_float = right(&WorstText::float_label);
    r.accuracy_int8 = right(&WorstText::int8_label);
  }
  std::stable_sort(texts_.begin(), texts_.end(), [](const WorstText& a, const WorstText& b) {
    return a.margin != b.margin ? a.margin > b.margin : a.cosine < b.cosine;
  });
  texts_.resize(std::min(texts_.size(), options.worst));
  r.worst = std::move(texts_);
  return std::move(r);
}

}  // namespace embert::convert
