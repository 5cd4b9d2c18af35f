// SPDX-License-Identifier: Apache-2.0
// Scores as real numbers, and the labels of a classifier in order of their scores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "embert/embert_inspect.h"
#include "embert/embert_tasks.h"
#include "targets/hosted/model/model_file.hpp"

namespace embert::hosted {

double score_of(embert_q30 score);
/// For scores that may be too small for 30 fractional bits.
double score_of_log2(embert_log2_q26 log2_score);

struct LabelScore {
  uint32_t label;
  double score;
};

/// By name: softmax, sigmoid or none; empty: the model's own. Throws UsageError for other names.
embert_score_function score_function(const std::string& name, const embert_model_info& info);

/// The logits to rank; real = value * scale.
struct LogitRow {
  const int32_t* logits;  ///< [count]
  size_t count;
  embert_scale scale;
};

/// Returns the `top` best labels (0: all), best first; of equal scores the lower label first.
std::vector<LabelScore> rank_labels(const LogitRow& row, embert_score_function function,
                                    size_t top);

/// Returns a label's name, such as "LABEL_1"; its number if the model has no names.
std::string label_name(const ModelFile& file, uint32_t label);

}  // namespace embert::hosted
