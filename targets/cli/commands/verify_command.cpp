// SPDX-License-Identifier: Apache-2.0
// embert verify: compares the int8 model with the float32 model of the folder it was made from.
#include "converter/verify/verify.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "converter/calibrate/tokens/calibration_files.hpp"
#include "converter/reference/float_model.hpp"
#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/model/run_options.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/model/model_file.hpp"

namespace embert::cli {
namespace {

struct VerifyArguments {
  std::string model, folder, texts;
  RunOptions run;
  bool json = false;
};

std::string name_of_label(const ModelFile& file, int32_t label) {
  const char* name =
      label < 0 ? nullptr : embert_model_label(file.model(), static_cast<uint32_t>(label));
  return name ? name : std::to_string(label);
}

Json worst_texts_json(const ModelFile& file, const convert::VerifyResult& result,
                      const std::vector<std::string>& texts) {
  Json worst = Json::array();
  for (const convert::WorstText& entry : result.worst) {
    Json one = {{"text", texts[entry.text]}, {"cosine", entry.cosine}};
    if (entry.float_label >= 0) {
      one["margin"] = entry.margin;
      one["float_label"] = name_of_label(file, entry.float_label);
      one["int8_label"] = name_of_label(file, entry.int8_label);
    }
    worst.push_back(std::move(one));
  }
  return worst;
}

void write_comparison_json(const ModelFile& file, const convert::VerifyResult& result,
                           const std::vector<std::string>& texts) {
  Json json = {{"compared", convert::compared_name(result.compared)},
               {"texts", result.texts},
               {"tokens", result.tokens}};
  if (result.compared != convert::Compared::kEmbeddings) {
    json["agreement"] = result.agreement;
    json["logit_error_max"] = result.logit_error_max;
  }
  json["cosine_mean"] = result.cosine_mean;
  json["cosine_p01"] = result.cosine_p01;
  json["cosine_min"] = result.cosine_min;
  json["worst"] = worst_texts_json(file, result, texts);
  output().json(json);
}

void write_comparison_text(const ModelFile& file, const convert::VerifyResult& result,
                           const std::vector<std::string>& texts) {
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
      line += "float32 " + one_line(name_of_label(file, entry.float_label)) + ", int8 " +
              one_line(name_of_label(file, entry.int8_label)) + ": ";
    }
    output().line(line + one_line(std::string_view(texts[entry.text]).substr(0, 100)));
  }
}

void run_verify(const VerifyArguments& arguments) {
  const uint32_t isa_mask = isa_mask_of(arguments.run.isa);
  const ModelFile file(arguments.model, isa_mask);
  file.require_tokenizer();
  const std::vector<std::string> texts = convert::read_lines(arguments.texts);
  if (texts.empty()) {
    throw InputError(quoted_path(arguments.texts) + ": has no text; put one on each line");
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());

  const convert::ModelFolder folder = convert::read_model_folder(arguments.folder);
  for (const std::string& warning : folder.warnings) note(warning);
  const uint32_t threads = allowed_threads(arguments.run.threads);
  convert::FloatModel float_model(folder.config, folder.weights, static_cast<int>(threads));
  convert::IntegerModel::Options options;
  options.isa_mask = isa_mask;
  options.threads = threads;
  convert::IntegerModel int8_model({file.data(), file.bytes()}, options);

  const convert::VerifyResult result = convert::verify(
      folder, float_model, int8_model, convert::batch_of_texts(folder.config, int8_model, views));
  if (arguments.json) {
    write_comparison_json(file, result, texts);
  } else {
    write_comparison_text(file, result, texts);
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
  command->add_flag(
      "--json", arguments->json,
      "One JSON object: compared, texts, tokens, cosine_mean, cosine_p01, cosine_min, "
      "worst, and for logits agreement, logit_error_max");
  arguments->run.add_to(*command);
  command->footer("Example:\n  embert verify intent.emb tiny-intent --texts lines.txt");
  command->callback([arguments] { run_verify(*arguments); });
}

}  // namespace embert::cli
