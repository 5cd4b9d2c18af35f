// SPDX-License-Identifier: Apache-2.0
// embert verify: compares the int8 model with the float32 model of the folder it was made from.
#include <CLI/CLI.hpp>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/io/text_file.hpp"
#include "targets/cli/model/run_options.hpp"
#include "targets/hosted/convert/verify_model.hpp"

namespace embert::cli {
namespace {

struct VerifyArguments {
  std::string model, folder, texts;
  RunOptions run;
  bool json = false, labelled = false;
};

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

std::vector<std::string> read_texts(const VerifyArguments& arguments) {
  std::vector<std::string> lines = read_text_lines(arguments.texts);
  const std::string path = quoted_path(arguments.texts);
  if (arguments.labelled) {
    for (size_t i = 0; i < lines.size(); ++i) {
      take_label(lines[i], path + ": line " + std::to_string(i + 1));
    }
  } else if (seem_labelled(lines)) {
    throw InputError(path +
                     ": each line ends in a tab and one of few labels, which would be read "
                     "as text; give --labelled to leave them out");
  }
  return lines;
}

void run_verify(const VerifyArguments& arguments) {
  const ModelFile file(arguments.model, isa_mask_of(arguments.run.isa));
  file.require_tokenizer();
  TextList list;
  for (const std::string& text : read_texts(arguments)) list.add(text);
  const embert_hosted_texts texts = list.view();
  const ModelComparison comparison =
      verify_model(file, arguments.folder, texts, allowed_threads(arguments.run.threads));
  for (const std::string& warning : comparison.warnings) note(warning);
  if (arguments.json) {
    output().json(comparison_json(file, comparison.result, texts));
  } else {
    write_comparison_text(file, comparison.result, texts);
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
  command->add_option("--texts", arguments->texts, "Texts to compare on, one a line")
      ->required()
      ->type_name("FILE");
  command->add_flag("--labelled", arguments->labelled,
                    "Lines are a text, a tab and its label, which is left out");
  command->add_flag(
      "--json", arguments->json,
      "One JSON object: compared, texts, tokens, cosine_mean, cosine_p01, cosine_min, "
      "worst, and for logits agreement, logit_error_max");
  arguments->run.add_to(*command);
  command->footer("Example:\n  embert verify intent.emb tiny-intent --texts lines.txt");
  command->callback([arguments] { run_verify(*arguments); });
}

}  // namespace embert::cli
