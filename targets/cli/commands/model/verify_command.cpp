// SPDX-License-Identifier: Apache-2.0
// embert verify: compares the int8 model with the float32 model of the folder it was made from.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/messages.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/io/progress_bar.hpp"
#include "targets/cli/io/text_file.hpp"
#include "targets/cli/model/run_options.hpp"
#include "targets/cli/report/report_data.hpp"
#include "targets/cli/report/report_file.hpp"
#include "targets/cli/tasks/task_arguments.hpp"
#include "targets/cli/verify/labelled_task.hpp"
#include "targets/hosted/convert/verify_model.hpp"
#include "targets/hosted/model/inspection.hpp"

namespace embert::cli {
namespace {

struct VerifyArguments {
  std::string model, folder;
  std::string texts, labelled;  ///< paths; one of them is empty
  std::optional<double> max_loss;
  RunOptions run;
  std::string report;  ///< path; empty: none
  bool json = false;
};

/// `data`: the JSON of --json.
void write_comparison_text(const ModelFile& file, const convert::VerifyResult& result,
                           const embert_hosted_texts& texts, const Json& data) {
  output().line("compared     " + std::string(convert::compared_name(result.compared)));
  output().line("texts        " + std::to_string(result.texts) + " of " +
                one_line(data["texts_file"].get<std::string>()));
  if (data.contains("answers")) {
    const Json& answers = data["answers"];
    output().line("agreement    " + fixed(100 * data["agreement"].get<double>(), 2) + " % of " +
                  answers["count"].dump() + " " + answers["kind"].get<std::string>() +
                  " are the same, " + answers["differing"].dump() + " differ");
  }
  if (result.compared != convert::Compared::kEmbeddings) {
    output().line("logit_error  " + fixed(result.logit_error_max, 6) + " at most");
  }
  output().line("cosine_mean  " + fixed(result.cosine_mean, 6));
  output().line("cosine_p01   " + fixed(result.cosine_p01, 6));
  output().line("cosine_min   " + fixed(result.cosine_min, 6));
  output().line("worst");
  for (const convert::WorstText& entry : result.worst) {
    std::string line = "  " + fixed(entry.cosine, 6) + "  ";
    if (entry.float_label != entry.int8_label) {
      line += "float32 " + one_line(compared_label(file, entry.float_label)) + ", int8 " +
              one_line(compared_label(file, entry.int8_label)) + ": ";
    }
    output().line(line + one_line(text_at(texts, entry.text).text.substr(0, 100)));
  }
}

/// Both models read the texts of --texts or of --labelled.
LabelledTask read_texts(const ModelFile& file, const VerifyArguments& arguments) {
  if (!arguments.labelled.empty()) return labelled_task(file, arguments.labelled);
  const std::vector<std::string> lines = read_text_lines(arguments.texts);
  if (seem_labelled(file, lines)) {
    throw InputError(quoted_path(arguments.texts) +
                     ": each line ends in a tab and a label, which would be read "
                     "as text; give the file to --labelled, or leave the labels out");
  }
  LabelledTask task;
  for (size_t i = 0; i < lines.size(); ++i) {
    add_text(task, file, {lines[i], {}}, line_of(arguments.texts, i));
    task.texts.add(lines[i]);
  }
  if (file.info().num_labels > 1 && file.info().problem == EMBERT_PROBLEM_SINGLE_LABEL) {
    compare_answers(file, lines, task);
  }
  return task;
}

void run_verify(const VerifyArguments& arguments) {
  if (arguments.texts.empty() == arguments.labelled.empty()) {
    throw UsageError("give the texts to compare on: --texts FILE or --labelled FILE");
  }
  std::optional<NewFile> report;
  if (!arguments.report.empty()) {
    check_report(arguments.report, arguments.folder);
    report.emplace(arguments.report);
  }
  const ModelFile file(arguments.model, isa_mask_of(arguments.run.isa));
  file.require_tokenizer();
  const LabelledTask task = read_texts(file, arguments);
  const embert_hosted_texts texts = task.texts.view();
  ProgressBar bar;
  Progress progress(show_texts, &bar, texts.count);
  const ModelComparison comparison = verify_tokens(
      file, arguments.folder,
      {.tokens = task.tokens, .see = task.see, .threads = allowed_threads(arguments.run.threads)},
      progress);
  Json measured = task.measure ? with_verdict(task.measure(), arguments.max_loss) : Json::object();
  if (task.differing) measured["differing"] = task.differing();
  for (const std::string& warning : comparison.warnings) note(warning);
  const Json certificate = stored_certificate(file);
  if (certificate.is_object() && certificate.contains("vocabulary")) {
    note(
        "the model has a cut vocabulary, and float32 reads its tokens, too: what the cut costs is "
        "not in these figures; compare them with those of the whole model");
  }
  Json data = {{"model", arguments.model},
               {"folder", arguments.folder},
               {"texts_file", arguments.texts.empty() ? arguments.labelled : arguments.texts}};
  data.update(comparison_json(file, comparison.result, texts));
  data.update(measured);
  if (report) {
    if (is_page(arguments.report)) add_model_facts(file, data);
    const std::string text = report_text(arguments.report, "verify", data);
    report->append({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    report->put_in_place();
  }
  if (arguments.json) {
    output().json(data);
  } else {
    write_comparison_text(file, comparison.result, texts, data);
    if (task.measure) write_measure(measured);
  }
  if (measured.contains("verdict") && measured["verdict"] == "fail") {
    output().finish();  // a verdict that fails keeps the results, also those of --output
    throw InputError(quoted_path(arguments.model) + ": int8 loses " +
                     fixed(measured["loss"].get<double>(), 4) + ", more than --max-loss " +
                     fixed(*arguments.max_loss, 4));
  }
}

}  // namespace

void add_verify_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("verify", "Compare the float32 model with the int8 model made from it");
  auto arguments = std::make_shared<VerifyArguments>();
  add_model_argument(*command, arguments->model);
  command->add_option("HF_DIR", arguments->folder, "The folder that the model was made from")
      ->required()
      ->type_name("");
  auto* plain =
      command->add_option("--texts", arguments->texts, "Texts to compare on, one a line; -: stdin")
          ->type_name("FILE");
  auto* labelled =
      command
          ->add_option(
              "--labelled", arguments->labelled,
              "A file with right answers for the model's task; -: stdin. Columns have tabs "
              "between. Classifiers: text, maybe its pair, label. Vectors and "
              "cross-encoders: text, pair, score. Answers: question, context, right "
              "answers. Tags: word, tag; an empty line ends a sentence")
          ->excludes(plain)
          ->type_name("FILE");
  command
      ->add_option("--max-loss", arguments->max_loss,
                   "The verdict fails, with exit code 2, if int8 loses more than this share, such "
                   "as 0.01, of accuracy, correlation or F1")
      ->check(share_of_one())
      ->needs(labelled)
      ->type_name("L");
  command->add_flag(
      "--json", arguments->json,
      "One JSON object: compared, texts, tokens, cosine_mean, cosine_p01, cosine_min, "
      "worst, for logits agreement, answers, logit_error_max; with --labelled accuracy, f1_macro, "
      "or "
      "spearman, or exact_match, f1, or precision, recall, f1, then differing, loss, "
      "loss_interval, max_loss, verdict");
  add_output_option(*command);
  add_report_option(*command, arguments->report);
  arguments->run.add_to(*command);
  command->footer(
      "With --labelled: accuracy and macro F1 of labels; Spearman's correlation of scores with "
      "the\n"
      "cosines of vectors or with logits; exact match and F1 of answers as SQuAD counts; "
      "precision,\n"
      "recall and F1 of entities as seqeval counts. The loss is of accuracy, correlation or F1, "
      "and\n"
      "its interval says in which range it lies with 95 % confidence.\n"
      "The agreement is the share of labels, entities, answer spans or first choices that are the\n"
      "same in both models. Give texts that the calibration did not see.\n"
      "Example:\n"
      "  embert verify intent.emb tiny-intent --texts lines.txt\n"
      "  embert verify intent.emb tiny-intent --labelled test.tsv --max-loss 0.01");
  command->callback([arguments] { run_verify(*arguments); });
}

}  // namespace embert::cli
