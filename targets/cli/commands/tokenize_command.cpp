// SPDX-License-Identifier: Apache-2.0
// embert tokenize: the tokens that the model would read.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/io/texts.hpp"
#include "targets/cli/model/run_options.hpp"
#include "targets/hosted/model/model_file.hpp"
#include "targets/hosted/model/text_tokens.hpp"

namespace embert::cli {
namespace {

struct TokenizeOptions {
  std::string model;
  std::vector<std::string> texts;
  std::optional<std::string> pair;
  bool json = false;
};

Json offset_pairs(const std::vector<uint32_t>& offsets) {
  Json pairs = Json::array();
  for (size_t i = 0; i + 1 < offsets.size(); i += 2) {
    pairs.push_back(Json::array({offsets[i], offsets[i + 1]}));
  }
  return pairs;
}

void write_tokens_json(const ModelFile& file, const std::string& text, const std::string* pair,
                       const TextTokens& tokens) {
  Json strings = Json::array();
  for (const int32_t id : tokens.ids) strings.push_back(token_string(*file.model(), id));
  Json word_ids = Json::array();
  for (const int32_t word : tokens.word_ids) word_ids.push_back(word < 0 ? Json() : Json(word));
  Json result = {{"text", text}};
  if (pair) result["pair"] = *pair;
  result["ids"] = tokens.ids;
  result["type_ids"] = tokens.type_ids;
  result["tokens"] = std::move(strings);
  result["byte_offsets"] = offset_pairs(tokens.byte_offsets);
  result["char_offsets"] = offset_pairs(tokens.char_offsets);
  result["word_ids"] = std::move(word_ids);
  output().json(result);
}

void write_tokens_text(const ModelFile& file, const TextTokens& tokens) {
  std::string line;
  for (const int32_t id : tokens.ids) {
    if (!line.empty()) line += ' ';
    line += one_line(token_string(*file.model(), id));
  }
  output().line(line);
}

void run_tokenize(const TokenizeOptions& options) {
  const ModelFile file(options.model, EMBERT_ISA_SCALAR);
  file.require_tokenizer();
  const std::string* pair = options.pair ? &*options.pair : nullptr;
  TextSource source(options.texts);
  for (auto texts = source.next(1); !texts.empty(); texts = source.next(1)) {
    TextItem item = {texts[0], {}};
    if (pair != nullptr) item.pair = *pair;
    const TextTokens tokens = tokenize_text(*file.model(), item, file.info().max_tokens);
    if (options.json) {
      write_tokens_json(file, texts[0], pair, tokens);
    } else {
      write_tokens_text(file, tokens);
    }
  }
}

}  // namespace

void add_tokenize_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tokenize", "Split each text into tokens");
  auto options = std::make_shared<TokenizeOptions>();
  add_model_argument(*command, options->model);
  add_text_arguments(*command, options->texts,
                     "Texts; without any, the lines of stdin; behind -- any text");
  command->add_option("--pair", options->pair, "A second text that follows each text");
  command->add_flag(
      "--json", options->json,
      "JSON Lines: text, ids, type_ids, tokens, byte_offsets, char_offsets, word_ids");
  command->footer(
      "Texts are cut to the model's length, special tokens included.\n"
      "Example:\n"
      "  embert tokenize minilm.emb \"Where is it?\" --pair \"In the unaffable attic.\" --json");
  command->callback([options] { run_tokenize(*options); });
}

}  // namespace embert::cli
