// SPDX-License-Identifier: Apache-2.0
// embert choose: ranks several texts by how well they continue a prompt.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "embert/embert_tasks.h"
#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/tasks/common/logit_scores.hpp"
#include "targets/hosted/texts/run_texts.hpp"

namespace embert::cli {
namespace {

const RecordForm kChooseForm = {.names = {"prompt", "choices"}, .ends_in_list = true};

struct ChooseOptions {
  TextCall call;
  uint32_t top = 0;  ///< 0: the best one as text, all in JSON
};

void write_choices(const ChooseOptions& options, const Record& record,
                   const std::vector<LabelScore>& scores, const std::vector<uint8_t>& truncated) {
  Json list = Json::array();
  std::string line;
  for (const LabelScore& entry : scores) {
    const std::string& choice = record.texts[1 + entry.label];
    line += fixed(entry.score, 4) + '\t' + one_line(choice) + '\t';
    list.push_back({{"choice", choice}, {"index", entry.label}, {"score", entry.score}});
    if (truncated[entry.label] != 0) list.back()[kTruncatedKey] = true;
  }
  if (!options.call.json) return output().line(line + one_line(record.texts[0]));
  output().line(
      record.with_carried(json_line({{"prompt", record.texts[0]}, {"choices", std::move(list)}})));
}

void run_choose(const ChooseOptions& options) {
  const auto model = open_model(options.call);
  model->file().require_tokenizer();
  require_task(model->file(), Task::kChoose);
  const uint32_t top = options.top ? options.top : options.call.json ? 0 : 1;
  for_records(options.call, kChooseForm, 1, [&](const std::vector<Record>& records, Progress&) {
    const TextList choices = list_with_first(records[0]);
    const LogitRows logits = classify_all(*model, choices.view());
    write_choices(options, records[0],
                  rank_labels({logits.values.data(), choices.count(), logits.scale},
                              EMBERT_SCORE_SOFTMAX, top),
                  logits.truncated);
    return logits.truncated_texts();
  });
}

}  // namespace

void add_choose_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("choose", "Choose the text that best follows a prompt");
  auto options = std::make_shared<ChooseOptions>();
  add_text_call(*command, options->call, kChooseForm,
                {{"prompt", "choices"}, "choice, index, score"});
  add_on_long_option(*command, options->call);
  command
      ->add_option("--top", options->top, "How many choices to show; default: 1, all with --json")
      ->check(CLI::Range(1, 1000000))
      ->type_name("K");
  command->footer(
      "With the prompt as the only argument the choices are the lines of stdin. Without --json a\n"
      "line is: score, choice (K times), prompt, with tabs between. Indices count from 0.\n"
      "Example:\n"
      "  embert choose swag.emb \"He opens the door and\" \"walks in.\" \"flies to the moon.\"");
  command->callback([options] { run_choose(*options); });
}

}  // namespace embert::cli
