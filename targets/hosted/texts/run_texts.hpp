// SPDX-License-Identifier: Apache-2.0
// Runs a model on a list of texts: tokenises them, sorts them by length, cuts them into passes and
// spreads all of this over the model's threads. No text is split, and each gets the bits that it
// gets alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "embert/embert_run.h"
#include "targets/hosted/hosted_model.hpp"
#include "targets/hosted/texts/text_list.hpp"
#include "targets/hosted/threads/progress.hpp"

namespace embert::hosted {

struct TokenLists;

/// The result of one text; real = value * scale. Functions that take one are called in any thread
/// and order, once for each text.
template <typename T>
struct TextRow {
  size_t text;
  uint32_t tokens;     ///< 0: the text has none, or was left out
  const T* values;     ///< [width], valid during the call; null for a text without tokens
  embert_scale scale;  ///< the same for all texts that have tokens
  bool truncated;      ///< the text was cut to the model's length
};
using VectorSink = std::function<void(const TextRow<int16_t>& row)>;
using LogitSink = std::function<void(const TextRow<int32_t>& row)>;

/// How texts become vectors.
struct EmbedPass {
  embert_pooling pooling = EMBERT_POOLING_MODEL;
  std::string_view prompt;  ///< put before each text
  LongTexts long_texts = LongTexts::kCut;
};
/// Calls sink with the vector of each text, [vector_size] values.
void embed_texts(HostedModel& model, const embert_hosted_texts& texts, const EmbedPass& pass,
                 Progress& progress, const VectorSink& sink);
/// Calls sink with the classifier's logits for each text, [num_labels] values.
void classify_texts(HostedModel& model, const embert_hosted_texts& texts, Progress& progress,
                    const LogitSink& sink, LongTexts long_texts = LongTexts::kCut);

/// Texts that are tokens already, at most some thousands. Each has 1 to max_tokens ids of the
/// model; its type ids are segments that the model has.
void embed_tokens(HostedModel& model, const TokenLists& texts, embert_pooling pooling,
                  const VectorSink& sink);
void classify_tokens(HostedModel& model, const TokenLists& texts, const LogitSink& sink);

/// Logits of texts in the order of the list; real = value * scale.
struct LogitRows {
  size_t width = 0;
  std::vector<int32_t> values;  ///< [texts x width]; zeros for a text without tokens
  embert_scale scale = {};
  std::vector<uint8_t> truncated;  ///< [texts] 1: cut to the model's length

  const int32_t* row(size_t i) const { return values.data() + i * width; }
  size_t truncated_texts() const {
    return static_cast<size_t>(std::count(truncated.begin(), truncated.end(), 1));
  }
};
LogitRows classify_all(HostedModel& model, const embert_hosted_texts& texts);

}  // namespace embert::hosted
