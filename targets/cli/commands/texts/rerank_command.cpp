// SPDX-License-Identifier: Apache-2.0
// embert rerank: a cross-encoder reads the query with each document and sorts the documents.
#include <CLI/CLI.hpp>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/tasks/task_arguments.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/tasks/common/rank_documents.hpp"
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

void write_documents(const RerankOptions& options, const Record& record,
                     const std::vector<DocumentScore>& ranked,
                     const std::vector<uint8_t>& truncated) {
  Json list = Json::array();
  for (const DocumentScore& entry : ranked) {
    const std::string& document = record.texts[1 + entry.index];
    if (options.call.json) {
      list.push_back({{"document", document}, {"index", entry.index}, {"score", entry.score}});
      if (truncated[entry.index] != 0) list.back()[kTruncatedKey] = true;
    } else {
      output().line(fixed(entry.score, 4) + '\t' + std::to_string(entry.index) + '\t' +
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
  const uint32_t label = label_to_sort_by(file, options.label, "--label");
  const embert_score_function function = score_function(options.function, file.info());
  for_records(options.call, kRerankForm, 1, [&](const std::vector<Record>& records, Progress&) {
    const TextList documents = list_with_first(records[0]);
    const LogitRows logits = classify_all(*model, documents.view());
    std::vector<LogitRow> rows;
    for (size_t i = 0; i < documents.count(); ++i) {
      rows.push_back({logits.row(i), logits.width, logits.scale});
    }
    std::vector<DocumentScore> ranked = rank_documents(rows, function, label);
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
