// SPDX-License-Identifier: Apache-2.0
// embert next-sentence: the probability that one text follows another.
#include <CLI/CLI.hpp>
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

void run_next_sentence(const TextCall& call) {
  const auto model = open_model(call);
  model->file().require_tokenizer();
  require_task(model->file(), Task::kNextSentence);
  for_records(
      call, kPairForm, kSortedTextsAtOnce, [&](const std::vector<Record>& records, Progress&) {
        const TextList pairs = list_of(records);
        const LogitRows logits = classify_all(*model, pairs.view());
        std::vector<embert_q30> scores(logits.values.size());  // label 0 means: it follows
        check(embert_softmax_q30(logits.values.data(), records.size(), logits.width, logits.scale,
                                 scores.data()),
              "embert_softmax_q30");
        for (size_t i = 0; i < records.size(); ++i) {
          const std::vector<std::string>& texts = records[i].texts;
          const double score = score_of(scores[i * logits.width]);
          if (call.json) {
            Json result = {{"text", texts[0]}, {"pair", texts[1]}, {"score", score}};
            if (logits.truncated[i] != 0) result[kTruncatedKey] = true;
            output().line(records[i].with_carried(json_line(result)));
          } else {
            output().line(fixed(score, 4) + '\t' + one_line(texts[0]) + '\t' + one_line(texts[1]));
          }
        }
        return logits.truncated_texts();
      });
}

}  // namespace

void add_next_sentence_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("next-sentence", "Score whether one text follows another");
  auto call = std::make_shared<TextCall>();
  add_text_call(*command, *call, kPairForm, {{"text", "pair", "score"}, ""});
  add_on_long_option(*command, *call);
  command->footer(
      "The score is the probability that the pair follows the text. Without --json a line is:\n"
      "score, text, pair, with tabs between.\n"
      "Example:\n"
      "  embert next-sentence bert.emb \"The sky is blue.\" \"It has no clouds.\"");
  command->callback([call] { run_next_sentence(*call); });
}

}  // namespace embert::cli
