// SPDX-License-Identifier: Apache-2.0
#include "converter/verify/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "converter/verify/answers/tagged_entities.hpp"

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

AnswerKind kind_of_answers(const ModelConfig& config, Compared compared) {
  switch (compared) {
    case Compared::kEmbeddings:
      return AnswerKind::kNone;
    case Compared::kVocabularyLogits:
      return AnswerKind::kToken;
    case Compared::kTokenLogits:
      return config.token_classifier == TokenTask::kQuestionAnswering ? AnswerKind::kSpan
                                                                      : AnswerKind::kEntity;
    case Compared::kLogits:
      break;
  }
  if (config.classifier == ClassifierTask::kMultipleChoice) return AnswerKind::kChoice;
  if (config.problem_type == ProblemType::kMultiLabel) return AnswerKind::kLabelSet;
  if (config.label_names.size() == 1) return AnswerKind::kChoice;
  return config.problem_type == ProblemType::kRegression ? AnswerKind::kNone : AnswerKind::kLabel;
}

// The tokens from start to end, of at most kSpanTokens, with the largest sum of logits.
struct AnswerSpan {
  std::size_t start = 0, end = 0;

  bool operator==(const AnswerSpan&) const = default;
};

template <typename T>
AnswerSpan best_span(std::span<const T> logits) {
  constexpr std::size_t kSpanTokens = 15;  // as `embert answer` by default
  const std::size_t tokens = logits.size() / 2;
  const auto score = [&](const AnswerSpan& span) {
    return static_cast<double>(logits[2 * span.start]) +
           static_cast<double>(logits[2 * span.end + 1]);
  };
  AnswerSpan best;
  for (std::size_t start = 0; start < tokens; ++start) {
    for (std::size_t end = start; end < std::min(tokens, start + kSpanTokens); ++end) {
      if (score({start, end}) > score(best)) best = {start, end};
    }
  }
  return best;
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

const char* answer_name(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kNone:
      return "none";
    case AnswerKind::kLabel:
      return "labels";
    case AnswerKind::kLabelSet:
      return "sets of labels";
    case AnswerKind::kEntity:
      return "entities";
    case AnswerKind::kSpan:
      return "answer spans";
    case AnswerKind::kChoice:
      return "first choices";
    case AnswerKind::kToken:
      return "tokens";
  }
  return "";
}

Comparison::Comparison(const ModelConfig& config, SeeText see, std::vector<std::int32_t> special)
    : config_(config), see_(std::move(see)), special_(std::move(special)) {
  result_.compared = what_to_compare(config);
  result_.answer_kind = kind_of_answers(config, result_.compared);
}

void Comparison::add(std::span<const double> reference, std::span<const std::int32_t> values,
                     std::size_t width, double scale, std::span<const std::int32_t> ids) {
  WorstText text;
  text.text = result_.cosines.size();
  text.cosine = cosine(reference, values);
  result_.cosines.push_back(text.cosine);
  if (result_.compared != Compared::kEmbeddings) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double error = values[i] * scale - reference[i];
      result_.logit_error_max = std::max(result_.logit_error_max, std::abs(error));
      logit_errors_ += error * error;
      logit_squares_ += reference[i] * reference[i];
    }
    compare_answers({reference, values, width}, ids, text);
  }
  texts_.push_back(text);
  if (see_) see_({text.text, reference, values, width, scale});
}

void Comparison::compare_answers(const Logits& logits, std::span<const std::int32_t> ids,
                                 WorstText& text) {
  switch (result_.answer_kind) {
    case AnswerKind::kEntity:
      return compare_entities(logits, ids, text);
    case AnswerKind::kSpan:
      return compare_spans(logits, text);
    case AnswerKind::kChoice:
      float_scores_.push_back(logits.float32[0]);
      int8_scores_.push_back(logits.int8[0]);
      if (float_scores_.size() == kChoices) compare_choices();
      [[fallthrough]];
    default:
      compare_label(logits, text);
  }
}

void Comparison::compare_label(const Logits& logits, WorstText& text) {
  const std::int32_t float_label = index_of_largest(logits.float32),
                     int8_label = index_of_largest(logits.int8);
  text.margin = logits.float32[static_cast<std::size_t>(float_label)] -
                logits.float32[static_cast<std::size_t>(int8_label)];
  if (result_.compared == Compared::kLogits) {
    text.float_label = float_label;
    text.int8_label = int8_label;
  }
  if (result_.answer_kind == AnswerKind::kLabelSet) {
    bool agrees = true;
    for (std::size_t i = 0; i < logits.width; ++i) {
      agrees = agrees && (logits.int8[i] > 0) == (logits.float32[i] > 0);
    }
    count(agrees);
  } else if (result_.answer_kind == AnswerKind::kLabel ||
             result_.answer_kind == AnswerKind::kToken) {
    count(float_label == int8_label);
  }
}

void Comparison::compare_entities(const Logits& logits, std::span<const std::int32_t> ids,
                                  WorstText& text) {
  std::vector<std::int32_t> float_tags, int8_tags;
  for (std::size_t token = 0; token < logits.rows(); ++token) {
    if (!special_.empty() && std::ranges::find(special_, ids[token]) != special_.end()) {
      float_tags.push_back(-1);
      int8_tags.push_back(-1);
      continue;
    }
    const Logits row = logits.row(token);
    float_tags.push_back(index_of_largest(row.float32));
    int8_tags.push_back(index_of_largest(row.int8));
    text.margin =
        std::max(text.margin, row.float32[static_cast<std::size_t>(float_tags.back())] -
                                  row.float32[static_cast<std::size_t>(int8_tags.back())]);
  }
  const std::vector<TaggedEntity> floats = tagged_entities(config_.label_names, float_tags),
                                  ints = tagged_entities(config_.label_names, int8_tags);
  const std::size_t common = common_entities(floats, ints);
  count(floats.size() + ints.size() - common, floats.size() + ints.size() - 2 * common);
}

void Comparison::compare_spans(const Logits& logits, WorstText& text) {
  const AnswerSpan by_float = best_span(logits.float32), by_int8 = best_span(logits.int8);
  const auto score = [&](const AnswerSpan& span) {
    return logits.float32[2 * span.start] + logits.float32[2 * span.end + 1];
  };
  text.margin = score(by_float) - score(by_int8);
  count(by_float == by_int8);
}

void Comparison::compare_choices() {
  count(index_of_largest<double>(float_scores_) == index_of_largest<std::int32_t>(int8_scores_));
  float_scores_.clear();
  int8_scores_.clear();
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
  if (r.compared == Compared::kEmbeddings) {
    r.error = 1 - r.cosine_mean;
  } else if (logit_errors_ > 0) {
    r.error = logit_errors_ / logit_squares_ / 2;
  }
  if (r.answers > 0) {
    r.agreement =
        static_cast<double>(r.answers - r.differing_answers) / static_cast<double>(r.answers);
  }
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
