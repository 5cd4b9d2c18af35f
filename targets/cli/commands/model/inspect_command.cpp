// SPDX-License-Identifier: Apache-2.0
// embert inspect: shows the content of a model file and the memory that it needs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/model/model_summary.hpp"
#include "targets/cli/model/run_options.hpp"
#include "targets/hosted/model/inspection.hpp"
#include "targets/hosted/model/sha256.hpp"

namespace embert::cli {
namespace {

std::string scalar_text(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.is_string() ? one_line(value.get<std::string>()) : value.dump();
}

void write_fields(const char* title, const Json& fields) {
  output().line(title);
  if (fields.is_null()) output().line("  none");
  for (const auto& [key, value] : fields.items()) {
    std::string name = "  " + key;
    name.resize(std::max<size_t>(name.size() + 1, 20), ' ');
    output().line(name + scalar_text(value));
  }
}

void write_details(const Json& content) {
  write_fields("header", content["header"]);
  write_fields("tokenizer", content["tokenizer"]);
  output().line("tensors: offset, bytes, name");
  for (const Json& tensor : content["tensors"]) {
    std::string name = tensor["name"].get<std::string>();
    if (tensor.contains("layer")) name = "layer" + tensor["layer"].dump() + "." + name;
    if (tensor.contains("stack")) name = "stack" + tensor["stack"].dump() + "." + name;
    char columns[64];
    std::snprintf(columns, sizeof columns, "  %12llu %12llu  ",
                  tensor["offset"].get<unsigned long long>(),
                  tensor["bytes"].get<unsigned long long>());
    output().line(columns + name);
  }
}

struct InspectOptions {
  std::string model;
  bool json = false, tensors = false;
};

void run_inspect(const InspectOptions& options) {
  const ModelFile file(options.model, EMBERT_ISA_SCALAR);
  Json content = inspect_model(file);
  content["sha256"] = hosted::sha256({file.data(), file.bytes()});
  if (options.json) return output().json(content);
  write_model_summary(file, content);
  if (options.tensors) write_details(content);
}

}  // namespace

void add_inspect_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("inspect", "Show what a model is, can do and needs in memory");
  auto options = std::make_shared<InspectOptions>();
  add_model_argument(*command, options->model);
  command->add_flag("--tensors", options->tensors,
                    "Also the numbers of the header and the place of each tensor");
  command->add_flag("--json", options->json,
                    "One JSON object: blob_bytes, arena_bytes, header, tokenizer, tasks, "
                    "labels, token_labels, prompts, default_prompt_name, certificate, tensors, "
                    "sha256");
  add_output_option(*command);
  command->footer("Example:\n  embert inspect intent.emb\n  embert inspect intent.emb --json");
  command->callback([options] { run_inspect(*options); });
}

}  // namespace embert::cli
