// SPDX-License-Identifier: Apache-2.0
// Scores as real numbers, and the ranked labels of a classifier.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "embert/embert_tasks.h"
#include "targets/cli/model/model_file.hpp"

namespace embert::cli {

double score_of(embert_q30 score);
/// For what is too small for the other.
double score_of_log2(embert_log2_q26 log2_score);

struct LabelScore {
  uint32_t label;
  double score;
};

/// --function: softmax, sigmoid or none; empty: as the model says.
void add_function_option(CLI::App& command, std::string& function);
embert_score_function score_function(const std::string& name, const embert_model_info& info);

/// The `top` best of n labels, 0: all, best first, of equal ones the first label first.
std::vector<LabelScore> rank_labels(const int32_t* logits, size_t n, embert_scale scale,
                                    embert_score_function function, size_t top);

/// "LABEL_1" and so on; a number where the model has no names.
std::string label_name(const ModelFile& file, uint32_t label);

}  // namespace embert::cli
