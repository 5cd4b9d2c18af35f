// SPDX-License-Identifier: Apache-2.0
// embert rerank: a cross-encoder reads the query with each document and sorts the documents.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "embert/embert_tasks.h"
#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/tasks/task_arguments.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/tasks/common/logit_scores.hpp"
#include "targets/hosted/texts/run_texts.hpp"

namespace embert::cli {
namespace {

const RecordForm kRerankForm = {.names = {"query", "documents"}, .ends_in_list = true};

struct RerankOptions {
  TextCall call;
  std::string function;  ///< empty: the model's own
  std::string label;     ///< empty: the only one
  uint32_t top = 0;      ///< 0: all
};

uint32_t label_to_sort_by(const RerankOptions& options, const ModelFile& file) {
  const uint32_t labels = file.info().num_labels;
  if (options.label.empty() && labels == 1) return 0;
  std::string known;
  for (uint32_t i = 0; i < labels; ++i) {
    const std::string name = label_name(file, i);
    if (name == options.label) return i;
    known += (known.empty() ? "" : ", ") + name;
  }
  throw UsageError(options.label.empty()
                       ? "--label is missing: sort by which of " + known + "?"
                       : "--label \"" + options.label + "\": the model has " + known);
}

/// Scores each document by one label; best first, of equal scores the earlier document first. In
/// the result LabelScore::label is the document's index.
std::vector<LabelScore> rank_documents(const LogitRows& logits, size_t documents,
                                       embert_score_function function, uint32_t label) {
  std::vector<LabelScore> ranked;
  for (uint32_t i = 0; i < documents; ++i) {
    for (const LabelScore& entry :
         rank_labels({logits.row(i), logits.width, logits.scale}, function, 0)) {
      if (entry.label == label) ranked.push_back({i, entry.score});
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const LabelScore& a, const LabelScore& b) { return a.score > b.score; });
  return ranked;
}

void write_documents(const RerankOptions& options, const Record& record,
                     const std::vector<LabelScore>& ranked, const std::vector<uint8_t>& truncated) {
  Json list = Json::array();
  for (const LabelScore& entry : ranked) {
    const std::string& document = record.texts[1 + entry.label];
    if (options.call.json) {
      list.push_back({{"document", document}, {"index", entry.label}, {"score", entry.score}});
      if (truncated[entry.label] != 0) list.back()[kTruncatedKey] = true;
    } else {
      output().line(fixed(entry.score, 4) + '\t' + std::to_string(entry.label) + '\t' +
                    one_line(document));
    }
  }
  if (!options.call.json) return output().line("");
  output().line(
      record.with_carried(json_line({{"query", record.texts[0]}, {"documents", std::move(list)}})));
}

void run_rerank(const RerankOptions& options) {
  const auto model = open_model(options.call);
  const ModelFile& file = model->file();
  file.require_tokenizer();
  require_task(file, Task::kClassify);
  const uint32_t label = label_to_sort_by(options, file);
  const embert_score_function function = score_function(options.function, file.info());
  for_records(options.call, kRerankForm, 1, [&](const std::vector<Record>& records, Progress&) {
    const TextList documents = list_with_first(records[0]);
    const LogitRows logits = classify_all(*model, documents.view());
    std::vector<LabelScore> ranked = rank_documents(logits, documents.count(), function, label);
    if (options.top > 0 && options.top < ranked.size()) ranked.resize(options.top);
    write_documents(options, records[0], ranked, logits.truncated);
    return logits.truncated_texts();
  });
}

}  // namespace

void add_rerank_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("rerank", "Sort documents by how well they match a query");
  auto options = std::make_shared<RerankOptions>();
  add_text_call(*command, options->call, kRerankForm,
                {{"query", "documents"}, "document, index, score"});
  add_on_long_option(*command, options->call);
  command->add_option("--top", options->top, "How many documents to show; default: all")
      ->check(CLI::Range(1, 1000000))
      ->type_name("K");
  command
      ->add_option("--label", options->label,
                   "The label whose score says how well a document fits, where there are several")
      ->type_name("NAME");
  add_function_option(*command, options->function);
  command->footer(
      "With the query as the only argument the documents are the lines of stdin. Without --json a\n"
      "line is: score, index, document, with tabs between, and an empty line ends a query.\n"
      "Indices count from 0.\n"
      "Example:\n"
      "  embert rerank cross.emb \"how do cats purr\" --top 10 < documents.txt");
  command->callback([options] { run_rerank(*options); });
}

}  // namespace embert::cli
