// SPDX-License-Identifier: Apache-2.0
// embert verify: compares the int8 model with the float32 model of the folder it was made from.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/messages.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/io/progress_bar.hpp"
#include "targets/cli/io/text_file.hpp"
#include "targets/cli/model/run_options.hpp"
#include "targets/cli/tasks/task_arguments.hpp"
#include "targets/hosted/convert/quality.hpp"
#include "targets/hosted/convert/verify_model.hpp"

namespace embert::cli {
namespace {

struct VerifyArguments {
  std::string model, folder;
  std::string texts, labelled;  ///< paths; one of them is empty
  std::optional<double> max_loss;
  RunOptions run;
  bool json = false;
};

constexpr size_t kWorstTexts = 5;
constexpr size_t kMostDifferingLines = 20;  // without --json

void write_comparison_text(const ModelFile& file, const convert::VerifyResult& result,
                           const embert_hosted_texts& texts) {
  output().line("compared     " + std::string(convert::compared_name(result.compared)));
  output().line("texts        " + std::to_string(result.texts));
  if (result.compared != convert::Compared::kEmbeddings) {
    output().line("agreement    " + fixed(100 * result.agreement, 2) + " % same answers");
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

Json both_json(const BothModels& both) { return {{"float32", both.float32}, {"int8", both.int8}}; }

/// A measure of both models and what int8 loses of it, with the words that JSON and lines share.
struct TaskMeasure {
  Json json;
  Loss loss;
};

TaskMeasure measure_labels(const ModelFile& file, const std::vector<LabelledText>& texts,
                           const std::vector<int32_t>& right, const convert::VerifyResult& result) {
  std::vector<int32_t> by_float(texts.size()), by_int8(texts.size());
  for (const convert::WorstText& entry : result.worst) {
    by_float[entry.text] = entry.float_label;
    by_int8[entry.text] = entry.int8_label;
  }
  const LabelQuality quality = label_quality({right, by_float, by_int8});
  Json differing = Json::array();
  for (size_t i = 0; i < texts.size(); ++i) {
    if (by_float[i] == by_int8[i]) continue;
    differing.push_back({{"line", i + 1},
                         {"text", texts[i].text},
                         {"label", texts[i].label},
                         {"float_label", compared_label(file, by_float[i])},
                         {"int8_label", compared_label(file, by_int8[i])}});
  }
  return {{{"accuracy", both_json(quality.accuracy)},
           {"f1_macro", both_json(quality.f1_macro)},
           {"differing", std::move(differing)}},
          quality.loss};
}

TaskMeasure measure_scores(PairScores scores, const std::vector<double>& gold) {
  scores.gold = gold;
  const ScoreQuality quality = score_quality(scores);
  return {{{"spearman", both_json(quality.spearman)}}, quality.loss};
}

/// Adds loss and verdict.
Json with_verdict(const TaskMeasure& measure, const std::optional<double>& max_loss) {
  Json json = measure.json;
  json["loss"] = measure.loss.value;
  json["loss_interval"] = {measure.loss.low, measure.loss.high};
  if (max_loss) {
    json["max_loss"] = *max_loss;
    json["verdict"] = measure.loss.value <= *max_loss ? "pass" : "fail";
  }
  return json;
}

void write_measure_text(const Json& json) {
  for (const char* name : {"accuracy", "f1_macro", "spearman"}) {
    if (!json.contains(name)) continue;
    std::string line = name;
    line.resize(13, ' ');
    output().line(line + "float32 " + fixed(json[name]["float32"].get<double>(), 4) + ", int8 " +
                  fixed(json[name]["int8"].get<double>(), 4));
  }
  output().line("loss         " + fixed(json["loss"].get<double>(), 4) + ", with 95 % confidence " +
                fixed(json["loss_interval"][0].get<double>(), 4) + " to " +
                fixed(json["loss_interval"][1].get<double>(), 4));
  if (json.contains("differing")) {
    const size_t count = json["differing"].size();
    output().line("differing    " + std::to_string(count) +
                  (count > kMostDifferingLines
                       ? ", the first " + std::to_string(kMostDifferingLines) + " of them"
                       : ""));
    for (size_t i = 0; i < std::min(count, kMostDifferingLines); ++i) {
      const Json& entry = json["differing"][i];
      const auto word = [&](const char* key) { return one_line(entry[key].get<std::string>()); };
      output().line("  line " + entry["line"].dump() + ": " + word("label") + ", float32 " +
                    word("float_label") + ", int8 " + word("int8_label") + ": " +
                    word("text").substr(0, 100));
    }
  }
  if (json.contains("verdict")) {
    const bool passed = json["verdict"] == "pass";
    output().line("verdict      " +
                  coloured(json["verdict"].get<std::string>(),
                           passed ? Colour::kGreen : Colour::kRed, STDOUT_FILENO) +
                  ": at most " + fixed(json["max_loss"].get<double>(), 4) + " may be lost");
  }
}

/// The texts of the call, and what a labelled file says of them.
struct VerifyTexts {
  TextList list;                       ///< pairs for an embedding model's labelled file
  std::vector<LabelledText> labelled;  ///< empty with --texts
  std::vector<int32_t> labels;         ///< [labelled] of a classifier
  std::vector<double> scores;          ///< [labelled] of pairs
};

double score_of(const std::string& label, const std::string& where) {
  char* end = nullptr;
  const double score = std::strtod(label.c_str(), &end);
  if (label.empty() || *end != '\0' || !std::isfinite(score)) {
    throw InputError(where + ": expected text, a tab, its pair, a tab and a score; found \"" +
                     one_line(label) + "\", which is no number");
  }
  return score;
}

VerifyTexts read_labelled_texts(const std::string& path, const ModelFile& file) {
  const embert_model_info& info = file.info();
  VerifyTexts texts;
  if (info.num_labels > 1 && info.problem == EMBERT_PROBLEM_SINGLE_LABEL) {
    texts.labelled = read_labelled(path, false);
    require_several_labels(path, texts.labelled);
    texts.labels = label_indices(file, path, texts.labelled);
    for (const LabelledText& entry : texts.labelled) texts.list.add(entry.text);
    return texts;
  }
  if (info.num_labels > 0 || info.num_token_labels > 0 || info.has_lm != 0) {
    throw UsageError("--labelled: takes a classifier of texts into one of several labels, or a " +
                     std::string("model of vectors; for ") + quoted_path(file.path()) +
                     " give --texts");
  }
  texts.labelled = read_labelled(path, true);
  require_several_labels(path, texts.labelled);
  for (const LabelledText& entry : texts.labelled) {
    texts.scores.push_back(score_of(entry.label, line_of(path, texts.scores.size())));
    texts.list.add(entry.text, *entry.pair);
  }
  return texts;
}

VerifyTexts read_plain_texts(const std::string& path) {
  VerifyTexts texts;
  const std::vector<std::string> lines = read_text_lines(path);
  if (seem_labelled(lines)) {
    throw InputError(quoted_path(path) +
                     ": each line ends in a tab and one of few labels, which would be read "
                     "as text; give the file to --labelled, or leave the labels out");
  }
  for (const std::string& line : lines) texts.list.add(line);
  return texts;
}

void run_verify(const VerifyArguments& arguments) {
  if (arguments.texts.empty() == arguments.labelled.empty()) {
    throw UsageError("give the texts to compare on: --texts FILE or --labelled FILE");
  }
  const ModelFile file(arguments.model, isa_mask_of(arguments.run.isa));
  file.require_tokenizer();
  const bool labelled = !arguments.labelled.empty();
  const VerifyTexts texts =
      labelled ? read_labelled_texts(arguments.labelled, file) : read_plain_texts(arguments.texts);
  const uint32_t threads = allowed_threads(arguments.run.threads);
  embert_hosted_texts list = texts.list.view();
  ProgressBar bar;
  list.progress = show_texts;
  list.progress_context = &bar;
  const size_t worst = labelled ? list.count : kWorstTexts;
  ModelComparison comparison = verify_model(file, arguments.folder, list, threads, worst);
  Json measured = Json::object();
  if (labelled) {
    measured = with_verdict(
        texts.labels.empty()
            ? measure_scores(verify_pairs(file, arguments.folder, list, threads), texts.scores)
            : measure_labels(file, texts.labelled, texts.labels, comparison.result),
        arguments.max_loss);
  }
  comparison.result.worst.resize(std::min(comparison.result.worst.size(), kWorstTexts));
  for (const std::string& warning : comparison.warnings) note(warning);
  if (arguments.json) {
    Json json = comparison_json(file, comparison.result, list);
    json.update(measured);
    output().json(json);
  } else {
    write_comparison_text(file, comparison.result, list);
    if (labelled) write_measure_text(measured);
  }
  if (measured.contains("verdict") && measured["verdict"] == "fail") {
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
          ->add_option("--labelled", arguments->labelled,
                       "Texts with right answers; -: stdin. For a classifier lines of text, tab, "
                       "label: accuracy and F1 of both models; for vectors lines of text, tab, "
                       "pair, tab, score: Spearman's correlation with the cosines")
          ->excludes(plain)
          ->type_name("FILE");
  command
      ->add_option("--max-loss", arguments->max_loss,
                   "The verdict fails, with exit code 2, if int8 loses more than this share, such "
                   "as 0.01, of accuracy or correlation")
      ->check(share_of_one())
      ->needs(labelled)
      ->type_name("L");
  command->add_flag(
      "--json", arguments->json,
      "One JSON object: compared, texts, tokens, cosine_mean, cosine_p01, cosine_min, "
      "worst, for logits agreement, logit_error_max; with --labelled accuracy, f1_macro, differing "
      "or spearman, then loss, loss_interval, max_loss, verdict");
  add_output_option(*command);
  arguments->run.add_to(*command);
  command->footer(
      "The interval of the loss says in which range it lies with 95 % confidence.\n"
      "Example:\n"
      "  embert verify intent.emb tiny-intent --texts lines.txt\n"
      "  embert verify intent.emb tiny-intent --labelled test.tsv --max-loss 0.01");
  command->callback([arguments] { run_verify(*arguments); });
}

}  // namespace embert::cli
