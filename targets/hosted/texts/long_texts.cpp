// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/texts/long_texts.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>

#include "embert/embert_vector.h"
#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/tasks/common/text_windows.hpp"
#include "targets/hosted/texts/run_texts.hpp"
#include "targets/hosted/texts/token_chunk.hpp"

namespace embert::hosted {
namespace {

constexpr size_t kWindowsAtOnce = 1024;  // bounds the memory of their tokens

struct LongText {
  std::vector<TextTokens> windows;
  std::vector<int64_t> weights;  ///< [windows] tokens of the split text
  int64_t weight = 0;            ///< of all
  uint32_t tokens = 0;           ///< of the text as if it were not split
};

/// The first prompt_bytes of the text stand before each window.
LongText split_text(const HostedModel& model, const TextItem& item, size_t prompt_bytes) {
  LongText text;
  text.windows = windows_of(*model.file().model(), item, {model.max_tokens(), 0, prompt_bytes});
  const int32_t split = item.pair ? 1 : 0;
  for (const TextTokens& window : text.windows) {
    int64_t weight = 0;
    for (size_t i = 0; i < window.ids.size(); ++i) {
      weight += is_split(window, i, split, prompt_bytes) ? 1 : 0;
    }
    text.weights.push_back(weight);
    text.weight += weight;
  }
  const size_t around = text.windows[0].ids.size() - static_cast<size_t>(text.weights[0]);
  text.tokens = static_cast<uint32_t>(static_cast<size_t>(text.weight) + around);
  return text;
}

/// Calls run(lists, begin) for parts of the windows.
void for_parts(const LongText& text, bool has_types,
               const std::function<void(const TokenLists& part, size_t begin)>& run) {
  for (size_t begin = 0; begin < text.windows.size(); begin += kWindowsAtOnce) {
    TokenLists part;
    const size_t end = std::min(begin + kWindowsAtOnce, text.windows.size());
    for (size_t i = begin; i < end; ++i) {
      const TextTokens& window = text.windows[i];
      part.ids.insert(part.ids.end(), window.ids.begin(), window.ids.end());
      if (has_types) {
        part.type_ids.insert(part.type_ids.end(), window.type_ids.begin(), window.type_ids.end());
      }
      part.end_text();
    }
    run(part, begin);
  }
}

int64_t rounded_quotient(int64_t value, int64_t divisor) {
  return (value + (value < 0 ? -divisor : divisor) / 2) / divisor;
}

}  // namespace

LongVector embed_long_text(HostedModel& model, std::string_view prompt, std::string_view text,
                           embert_pooling pooling) {
  const embert_model_info& info = model.file().info();
  const std::string prompted = std::string(prompt) + std::string(text);
  const LongText split = split_text(model, {prompted, {}}, prompt.size());
  // |value| * weight stays below 2^15 * 2^30.
  std::vector<std::vector<int16_t>> vectors(split.windows.size());
  LongVector mean = {{}, {}, split.tokens, static_cast<uint32_t>(split.windows.size())};
  for_parts(split, false, [&](const TokenLists& part, size_t begin) {
    embed_tokens(model, part, pooling, [&](const TextRow<int16_t>& row) {
      vectors[begin + row.text].assign(row.values, row.values + info.vector_size);
      if (begin + row.text == 0) mean.scale = row.scale;
    });
  });
  std::vector<int64_t> sums(info.vector_size);
  for (size_t i = 0; i < vectors.size(); ++i) {
    for (size_t k = 0; k < sums.size(); ++k) sums[k] += vectors[i][k] * split.weights[i];
  }
  int64_t divisor = split.weight;
  if (info.normalize != 0) {  // the direction alone counts: all 15 bits for the largest value
    divisor = 1;
    for (const int64_t sum : sums) {
      divisor = std::max(divisor, (std::abs(sum) + INT16_MAX - 1) / INT16_MAX);
    }
  }
  for (const int64_t sum : sums) {
    mean.values.push_back(static_cast<int16_t>(rounded_quotient(sum, divisor)));
  }
  if (info.normalize != 0) {
    check(embert_normalize_int16(mean.values.data(), mean.values.size(), mean.values.data()),
          "embert_normalize_int16");
  }
  return mean;
}

LongScores classify_long_text(HostedModel& model, const TextItem& item,
                              embert_score_function function) {
  const size_t labels = model.file().info().num_labels;
  const LongText split = split_text(model, item, 0);
  std::vector<std::vector<double>> scores(split.windows.size(), std::vector<double>(labels));
  for_parts(split, item.pair.has_value(), [&](const TokenLists& part, size_t begin) {
    classify_tokens(model, part, [&](const TextRow<int32_t>& row) {
      for (const LabelScore& entry : rank_labels({row.values, labels, row.scale}, function, 0)) {
        scores[begin + row.text][entry.label] = entry.score;
      }
    });
  });
  LongScores mean = {std::vector<double>(labels), split.tokens,
                     static_cast<uint32_t>(split.windows.size())};
  for (size_t i = 0; i < scores.size(); ++i) {
    const double weight = static_cast<double>(split.weights[i]) / static_cast<double>(split.weight);
    for (size_t k = 0; k < labels; ++k) mean.scores[k] += weight * scores[i][k];
  }
  return mean;
}

}  // namespace embert::hosted
