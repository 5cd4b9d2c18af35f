// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/common/logit_scores.hpp"

#include <cmath>

#include "embert/embert_inspect.h"
#include "embert/embert_tasks.h"
#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::hosted {

double score_of(embert_q30 score) { return score / double{EMBERT_Q30_ONE}; }

double score_of_log2(embert_log2_q26 log2_score) {
  return std::exp2(std::ldexp(static_cast<double>(log2_score), -26));
}

embert_score_function score_function(const std::string& name, const embert_model_info& info) {
  if (name == "softmax") return EMBERT_SCORE_SOFTMAX;
  if (name == "sigmoid") return EMBERT_SCORE_SIGMOID;
  if (name == "none") return EMBERT_SCORE_NONE;
  if (!name.empty()) {
    throw UsageError("function \"" + one_line(name) + "\": there are softmax, sigmoid and none");
  }
  return embert_default_score_function(static_cast<embert_problem>(info.problem), info.num_labels);
}

std::vector<LabelScore> rank_labels(const LogitRow& row, embert_score_function function,
                                    size_t top) {
  std::vector<embert_label_score> ranked(row.count);
  const embert_logits logits = {.values = row.logits, .count = row.count, .scale = row.scale};
  embert_labels labels = {.items = ranked.data(), .capacity = ranked.size()};
  check(embert_rank_labels(&logits, function, top, &labels), "embert_rank_labels");
  const auto scale = static_cast<double>(embert_scale_to_float(row.scale));
  std::vector<LabelScore> scores;
  for (size_t i = 0; i < labels.count; ++i) {
    scores.push_back({ranked[i].label, function == EMBERT_SCORE_NONE ? ranked[i].logit * scale
                                                                     : score_of(ranked[i].score)});
  }
  return scores;
}

std::string label_name(const ModelFile& file, uint32_t label) {
  const char* name = embert_model_label(file.model(), label);
  return name ? name : std::to_string(label);
}

}  // namespace embert::hosted
