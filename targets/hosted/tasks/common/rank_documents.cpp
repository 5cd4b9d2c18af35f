// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/common/rank_documents.hpp"

#include <algorithm>

#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::hosted {

uint32_t label_to_sort_by(const ModelFile& file, const std::string& name, const char* option) {
  const uint32_t labels = file.info().num_labels;
  if (name.empty() && labels == 1) return 0;
  std::string known;
  for (uint32_t i = 0; i < labels; ++i) {
    const std::string label = label_name(file, i);
    if (label == name) return i;
    known += (known.empty() ? "" : ", ") + label;
  }
  throw UsageError(
      name.empty() ? option + std::string(" is missing: sort by which of ") + known + "?"
                   : option + std::string(" \"") + one_line(name) + "\": the model has " + known);
}

std::vector<DocumentScore> rank_documents(const std::vector<LogitRow>& rows,
                                          embert_score_function function, uint32_t label) {
  std::vector<DocumentScore> ranked;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (const LabelScore& entry : rank_labels(rows[i], function, 0)) {
      if (entry.label == label) ranked.push_back({i, entry.score});
    }
  }
  std::stable_sort(
      ranked.begin(), ranked.end(),
      [](const DocumentScore& a, const DocumentScore& b) { return a.score > b.score; });
  return ranked;
}

}  // namespace embert::hosted
