// SPDX-License-Identifier: Apache-2.0
// rerank: documents in the order of a label's score.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "targets/hosted/tasks/common/logit_scores.hpp"

namespace embert::hosted {

/// The label with this name; "": the model's only one. Throws UsageError that names the labels;
/// `option` is what the user calls the name, such as "--label".
uint32_t label_to_sort_by(const ModelFile& file, const std::string& name, const char* option);

/// A document by its place in the request.
struct DocumentScore {
  size_t index;
  double score;
};

/// Best first, of equal scores the earlier document first. rows: the logits of each document.
std::vector<DocumentScore> rank_documents(const std::vector<LogitRow>& rows,
                                          embert_score_function function, uint32_t label);

}  // namespace embert::hosted
