// SPDX-License-Identifier: Apache-2.0
// embert classify: the labels of each text, or of each pair of texts, with their scores.
#include <CLI/CLI.hpp>
#include <memory>

#include "embert/embert_tasks.h"
#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/model/model_session.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/tasks/logit_scores.hpp"

namespace embert::cli {
namespace {

struct ClassifyOptions {
  TextCall call;
  bool pairs = false;
  std::string function;  ///< empty: the model's own
  uint32_t top = 0;      ///< 0: the best one as text, all in JSON
};

void write_labels_json(const ModelFile& file, const Record& record, size_t tokens,
                       const std::vector<LabelScore>& scores) {
  Json result = {{"text", record.texts[0]}};
  if (record.texts.size() > 1) result["pair"] = record.texts[1];
  result["tokens"] = tokens;
  Json ranked;  // stays null if there are no scores
  for (const LabelScore& entry : scores) {
    ranked.push_back({{"label", label_name(file, entry.label)}, {"score", entry.score}});
  }
  result["label"] = ranked.is_null() ? Json() : ranked[0]["label"];
  result["score"] = ranked.is_null() ? Json() : ranked[0]["score"];
  result["scores"] = std::move(ranked);
  output().json(result);
}

void write_labels_text(const ModelFile& file, const Record& record,
                       const std::vector<LabelScore>& scores) {
  if (scores.empty()) return output().line("");
  std::string line;
  for (const LabelScore& entry : scores) {
    line += fixed(entry.score, 4) + '\t' + one_line(label_name(file, entry.label)) + '\t';
  }
  line += one_line(record.texts[0]);
  if (record.texts.size() > 1) line += '\t' + one_line(record.texts[1]);
  output().line(line);
}

void run_classify(const ClassifyOptions& options) {
  const ModelFile file(options.call.model, isa_mask_of(options.call.run.isa));
  file.require_tokenizer();
  require_task(file, Task::kClassify);
  RecordSource source(options.call.input, options.pairs ? kPairForm : kTextForm);
  const uint32_t most = source.limit(kTextsPerRun);
  const ModelSession session(file, options.call.run.threads, 0, most);
  const embert_score_function function = score_function(options.function, file.info());
  const uint32_t top = options.top ? options.top : options.call.json ? 0 : 1;

  for (auto records = source.next(most); !records.empty(); records = source.next(most)) {
    std::vector<TextTokens> texts;
    for (const Record& record : records) {
      texts.push_back(
          session.tokenize(record.texts[0], options.pairs ? &record.texts[1] : nullptr));
    }
    const Rows<int32_t> logits = session.classify(texts);
    for (size_t i = 0; i < records.size(); ++i) {
      const size_t tokens = texts[i].ids.size();
      std::vector<LabelScore> scores;
      if (tokens > 0) {
        scores = rank_labels({logits.row(i), logits.width, logits.scale}, function, top);
      }
      if (options.call.json) {
        write_labels_json(file, records[i], tokens, scores);
      } else {
        write_labels_text(file, records[i], scores);
      }
    }
  }
}

}  // namespace

void add_classify_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("classify", "Show the best labels for each text");
  auto options = std::make_shared<ClassifyOptions>();
  add_text_call(*command, options->call, kTextForm, "text, tokens, label, score, scores");
  command->add_flag("--pairs", options->pairs,
                    "Two texts that belong together: as arguments, in lines with a tab between, "
                    "with --jsonl the keys text and pair");
  add_function_option(*command, options->function);
  command->add_option("--top", options->top, "How many labels to show; default: 1, all with --json")
      ->check(CLI::Range(1, 4096))
      ->type_name("K");
  command->footer(
      "Without --json a line is: score, label (K times), text, with tabs between.\n"
      "A text without tokens, as an empty line where the model adds no special tokens, gets an\n"
      "empty line, with --json the label, score and scores null.\n"
      "Example:\n"
      "  embert classify intent.emb \"book me a flight to Paris\" --top 3\n"
      "  embert classify intent.emb --json < lines.txt > labels.jsonl");
  command->callback([options] { run_classify(*options); });
}

}  // namespace embert::cli
