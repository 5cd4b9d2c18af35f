// SPDX-License-Identifier: Apache-2.0
// embert embed: one vector for each text.
#include <CLI/CLI.hpp>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/cli/tasks/vector_rows.hpp"
#include "targets/hosted/model/model_tasks.hpp"

namespace embert::cli {
namespace {

struct EmbedOptions {
  TextCall call;
  VectorOptions vectors;
};

template <typename T>
std::vector<std::string> to_strings(const std::vector<T>& values) {
  std::vector<std::string> strings;
  for (const T value : values) strings.push_back(std::to_string(int{value}));
  return strings;
}

std::vector<double> real_vector(const int16_t* values, size_t size, embert_scale scale) {
  std::vector<double> reals(size);
  for (size_t i = 0; i < size; ++i) {
    reals[i] = static_cast<double>(values[i]) * static_cast<double>(embert_scale_to_float(scale));
  }
  return reals;
}

void write_embedding_json(const EmbedOptions& options, const std::string& text, size_t tokens,
                          const int16_t* values, const Rows<int16_t>& rows) {
  Json vector;  // stays null for a text without tokens
  if (tokens > 0) {
    switch (options.vectors.vector_format()) {
      case VectorFormat::kFloat:
        vector = real_vector(values, rows.width, rows.scale);
        break;
      case VectorFormat::kInt8:
        vector = int8_vector(values, rows.width);
        break;
      case VectorFormat::kBits:
        vector = bit_vector(values, rows.width);
    }
  }
  output().json({{"text", text}, {"tokens", tokens}, {"embedding", std::move(vector)}});
}

void write_embedding_text(const EmbedOptions& options, const int16_t* values,
                          const Rows<int16_t>& rows) {
  std::vector<std::string> strings;
  switch (options.vectors.vector_format()) {
    case VectorFormat::kFloat:
      for (const double x : real_vector(values, rows.width, rows.scale)) {
        strings.push_back(fixed(x, 6));
      }
      break;
    case VectorFormat::kInt8:
      strings = to_strings(int8_vector(values, rows.width));
      break;
    case VectorFormat::kBits:
      strings = to_strings(bit_vector(values, rows.width));
  }
  std::string line;
  for (const std::string& value : strings) line += (line.empty() ? "" : " ") + value;
  output().line(line);
}

void run_embed(const EmbedOptions& options) {
  const ModelFile file(options.call.model, isa_mask_of(options.call.run.isa));
  file.require_tokenizer();
  require_task(file, Task::kEmbed);
  const std::string prompt = options.vectors.prompt(file);
  RecordSource source(options.call.input, kTextForm);
  const uint32_t most = source.limit(kTextsPerRun);
  const ModelSession session(file, options.call.run.threads, 0, most);

  for (auto records = source.next(most); !records.empty(); records = source.next(most)) {
    std::vector<TextTokens> texts;
    for (const Record& record : records)
      texts.push_back(session.tokenize(prompt + record.texts[0]));
    const Rows<int16_t> vectors = text_vectors(session, file, texts, options.vectors);
    for (size_t i = 0; i < records.size(); ++i) {
      const size_t tokens = texts[i].ids.size();
      if (options.call.json) {
        write_embedding_json(options, records[i].texts[0], tokens, vectors.row(i), vectors);
      } else if (tokens == 0) {
        output().line("");
      } else {
        write_embedding_text(options, vectors.row(i), vectors);
      }
    }
  }
}

}  // namespace

void add_embed_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("embed", "Compute a vector for each text");
  auto options = std::make_shared<EmbedOptions>();
  add_text_call(*command, options->call, kTextForm, "text, tokens, embedding");
  options->vectors.add_to(*command);
  command->footer(
      "int8 scales each vector to -127..127; bits are packed eight to a byte, 1 above zero.\n"
      "Without --prompt each text gets the model's default prompt, if it has one (inspect).\n"
      "A text without tokens, as an empty line where the model adds no special tokens, gets an\n"
      "empty line, with --json the embedding null.\n"
      "Example:\n"
      "  embert embed minilm.emb \"a cat on a mat\" \"a dog in the fog\"\n"
      "  embert embed minilm.emb --json --format int8 < lines.txt > vectors.jsonl");
  command->callback([options] { run_embed(*options); });
}

}  // namespace embert::cli
