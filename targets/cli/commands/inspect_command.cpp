// SPDX-License-Identifier: Apache-2.0
// embert inspect: shows the content of a model file and the memory that it needs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
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

/// Texts in quotes: most end with a space.
void write_prompts(const Json& prompts, const Json& default_name) {
  output().line("prompts");
  if (prompts.empty()) output().line("  none");
  for (const auto& [name, text] : prompts.items()) {
    std::string line = "  " + one_line(name);
    line.resize(std::max<size_t>(line.size() + 1, 20), ' ');
    line += '"' + one_line(text.get<std::string>()) + '"';
    output().line(Json(name) == default_name ? line + " (default)" : line);
  }
}

void write_inspection(const ModelFile& file, const Json& content) {
  output().line(one_line(file.path()) + ": " + grouped(file.bytes()) + " bytes");
  output().line("sha256\n  " + content["sha256"].get<std::string>());
  write_fields("header", content["header"]);
  write_fields("tokenizer", content["tokenizer"]);
  std::string tasks;
  for (const Json& name : content["tasks"]) {
    tasks += (tasks.empty() ? "" : ", ") + name.get<std::string>();
  }
  output().line("tasks\n  " + (tasks.empty() ? "none" : tasks));
  write_prompts(content["prompts"], content["default_prompt_name"]);
  output().line("memory: arena bytes at a length in tokens, one text, one thread");
  for (const auto& [length, bytes] : content["arena_bytes"].items()) {
    std::string name = "  " + length;
    name.resize(20, ' ');
    output().line(name + grouped(bytes.get<unsigned long long>()));
  }
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

void run_inspect(const std::string& path, bool json) {
  const ModelFile file(path, EMBERT_ISA_SCALAR);
  Json content = inspect_model(file);
  content["sha256"] = hosted::sha256({file.data(), file.bytes()});
  if (!json) return write_inspection(file, content);
  output().json(content);
}

}  // namespace

void add_inspect_command(CLI::App& app) {
  struct InspectOptions {
    std::string model;
    bool json = false;
  };
  CLI::App* command =
      app.add_subcommand("inspect", "Show a model's contents and the memory it needs");
  auto options = std::make_shared<InspectOptions>();
  add_model_argument(*command, options->model);
  command->add_flag("--json", options->json,
                    "One JSON object: blob_bytes, arena_bytes, header, tokenizer, tasks, "
                    "labels, token_labels, prompts, default_prompt_name, certificate, tensors, "
                    "sha256");
  command->footer("Example:\n  embert inspect intent.emb --json");
  command->callback([options] { run_inspect(options->model, options->json); });
}

}  // namespace embert::cli
