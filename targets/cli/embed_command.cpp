// SPDX-License-Identifier: Apache-2.0
// embert embed: one vector a text.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "targets/cli/commands.hpp"
#include "targets/cli/encoder_session.hpp"
#include "targets/cli/output.hpp"
#include "targets/cli/texts.hpp"

namespace embert::cli {
namespace {

constexpr uint32_t kTextsACall = 16;

struct EmbedOptions {
  std::string model;
  std::vector<std::string> texts;
  std::string pooling;  ///< empty: the model's
  RunOptions run;
  bool json = false;
};

std::string vector_line(const int16_t* embedding, size_t size, float scale) {
  std::string line;
  for (size_t i = 0; i < size; ++i) {
    if (i > 0) line += ' ';
    line += fixed(static_cast<double>(embedding[i]) * static_cast<double>(scale), 6);
  }
  return line;
}

embert_pooling pooling_of(const std::string& name) {
  if (name == "mean") return EMBERT_POOLING_MEAN;
  if (name == "cls") return EMBERT_POOLING_CLS;
  return name == "max" ? EMBERT_POOLING_MAX : EMBERT_POOLING_MODEL;
}

void run_embed(const EmbedOptions& options) {
  const ModelFile file(options.model, isa_mask_of(options.run.isa));
  file.require_tokenizer();
  const embert_pooling pooling = pooling_of(options.pooling);
  TextSource source(options.texts);
  const auto most = static_cast<uint32_t>(
      options.texts.empty() ? kTextsACall : std::min<size_t>(kTextsACall, options.texts.size()));
  const EncoderSession session(file, options.run.threads, 0, most);
  const size_t hidden_size = file.info().hidden_size;
  std::vector<int16_t> embeddings(most * hidden_size);

  for (auto texts = source.next(most); !texts.empty(); texts = source.next(most)) {
    const Batch batch = session.tokenize(texts);
    const embert_input input = batch.input();
    embert_scale scale = {};
    if (!batch.empty()) {
      check(embert_embed(session.engine(), &input, pooling, embeddings.data(), &scale),
            "embert_embed");
    }
    const float step = embert_scale_to_float(scale);
    const int16_t* next = embeddings.data();
    for (size_t t = 0; t < texts.size(); ++t) {
      const bool has_tokens = batch.lengths[t] > 0;
      const int16_t* embedding = next;
      if (has_tokens) next += hidden_size;
      if (!options.json) {
        output().line(has_tokens ? vector_line(embedding, hidden_size, step) : "");
        continue;
      }
      Json vector;  // null
      for (size_t i = 0; has_tokens && i < hidden_size; ++i) {
        vector.push_back(static_cast<double>(embedding[i]) * static_cast<double>(step));
      }
      output().json(
          {{"text", texts[t]}, {"tokens", batch.lengths[t]}, {"embedding", std::move(vector)}});
    }
  }
}

}  // namespace

void add_embed_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("embed", "One vector for each text");
  auto options = std::make_shared<EmbedOptions>();
  add_model_argument(*command, options->model);
  add_text_arguments(*command, options->texts);
  command
      ->add_option("--pooling", options->pooling,
                   "How tokens become one vector: mean, cls, max; default: as the model says")
      ->check(CLI::IsMember({"mean", "cls", "max"}))
      ->type_name("NAME");
  command->add_flag("--json", options->json, "JSON Lines: text, tokens, embedding");
  options->run.add_to(*command);
  command->footer(
      "A text without tokens, as an empty line where the model adds no special tokens, gets an\n"
      "empty line, with --json the embedding null.\n"
      "Example:\n"
      "  embert embed minilm.emb \"a cat on a mat\" \"a dog in the fog\"\n"
      "  embert embed minilm.emb --json < lines.txt > vectors.jsonl");
  command->callback([options] { run_embed(*options); });
}

}  // namespace embert::cli
