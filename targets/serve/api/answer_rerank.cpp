// SPDX-License-Identifier: Apache-2.0
// /v1/rerank: documents in the order in which they match a query, as Cohere and Jina answer.
#include <limits>
#include <utility>

#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/tasks/common/rank_documents.hpp"
#include "targets/hosted/tasks/common/text_task.hpp"
#include "targets/serve/api/answers.hpp"
#include "targets/serve/api/request_tokens.hpp"
#include "targets/serve/memory_budget.hpp"

namespace embert::serve {
namespace {

/// Pairs of the query with each document, which is a text or {"text": ...}.
std::vector<RequestText> query_with_documents(const std::string& query, Json documents) {
  if (!documents.is_array()) throw UsageError("rerank: documents takes a list");
  for (Json& document : documents) {
    if (!document.is_object() || document.size() != 1 || !document.contains("text")) continue;
    Json text = std::move(document["text"]);
    document = std::move(text);
  }
  std::vector<RequestText> pairs = texts_of(std::move(documents), "documents", false);
  for (RequestText& pair : pairs) {
    pair.pair = std::move(pair.text);
    pair.text = query;
  }
  return pairs;
}

}  // namespace

std::string answer_rerank(const ApiCall& call) {
  const ModelFile& file = call.served.model.file();
  file.require_tokenizer();
  require_task(file, Task::kClassify);
  std::string query, label, function;
  uint32_t top = std::numeric_limits<uint32_t>::max();
  bool return_documents = false;
  Json documents = required(call.fields, "documents");
  if (std::optional<Json> given = call.fields.take("query"); given && given->is_string()) {
    query = given->get<std::string>();
  } else {
    throw UsageError("rerank: query is missing or no text");
  }
  call.fields.take("top_n", top, {1, std::numeric_limits<uint32_t>::max()});
  call.fields.take("return_documents", return_documents);
  call.fields.take("label", label);
  call.fields.take("function", function);
  call.fields.finish();
  const uint32_t sorts_by = label_to_sort_by(file, label, "label");
  const embert_score_function scores = score_function(function, file.info());
  check_count(documents.size(), "documents", call.limits);
  RequestMemory::current().add(uint64_t{documents.size()} * query.size());
  const std::vector<RequestText> pairs = query_with_documents(query, std::move(documents));
  const RequestTokens tokens = tokens_of_texts(call.served, pairs);
  const size_t labels = file.info().num_labels;
  RequestMemory::current().add(uint64_t{tokens.texts()} * labels * sizeof(int32_t));
  const BatchRows rows = call.served.queue.run(BatchKind::kLogits, tokens.lists);
  std::vector<LogitRow> logits;
  for (size_t i = 0; i < tokens.texts(); ++i) {
    logits.push_back({rows.logits.data() + i * labels, labels, rows.scale});
  }
  Json results = Json::array();
  for (const DocumentScore& entry : rank_documents(logits, scores, sorts_by)) {
    if (results.size() == top) break;
    results.push_back({{"index", entry.index}, {"relevance_score", entry.score}});
    if (return_documents) results.back()["document"] = {{"text", *pairs[entry.index].pair}};
    if (tokens.truncated[entry.index]) results.back()[kTruncatedKey] = true;
  }
  return json_line({{"object", "list"},
                    {"results", std::move(results)},
                    {"model", call.served.name},
                    {"usage", usage_of(tokens)}});
}

}  // namespace embert::serve
