// SPDX-License-Identifier: Apache-2.0
// embert similarity: the cosine or the Hamming distance of two texts' vectors, in integers.
#include <CLI/CLI.hpp>
#include <memory>

#include "embert/embert.h"
#include "embert/embert_vector.h"
#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/cli/tasks/vector_rows.hpp"
#include "targets/hosted/model/model_tasks.hpp"

namespace embert::cli {
namespace {

struct SimilarityOptions {
  TextCall call;
  VectorOptions vectors;
};

double cosine(const int16_t* a, const int16_t* b, size_t size, VectorFormat format) {
  int32_t cosine_q30 = 0;
  if (format == VectorFormat::kInt8) {
    check(embert_cosine_int8(int8_vector(a, size).data(), int8_vector(b, size).data(), size,
                             &cosine_q30),
          "embert_cosine_int8");
  } else {
    check(embert_cosine_int16(a, b, size, &cosine_q30), "embert_cosine_int16");
  }
  return cosine_q30 / double{EMBERT_Q30_ONE};
}

uint32_t hamming(const int16_t* a, const int16_t* b, size_t size) {
  uint32_t distance = 0;
  check(embert_hamming(bit_vector(a, size).data(), bit_vector(b, size).data(), size, &distance),
        "embert_hamming");
  return distance;
}

/// a, b [size]: the vectors; null for a text without tokens.
void write_similarity(const SimilarityOptions& options, const Record& record, const int16_t* a,
                      const int16_t* b, size_t size) {
  const VectorFormat format = options.vectors.vector_format();
  const bool bits = format == VectorFormat::kBits;
  Json result;  // stays null if a text has no tokens
  if (a != nullptr && b != nullptr) {
    result = bits ? Json(hamming(a, b, size)) : Json(cosine(a, b, size, format));
  }
  if (options.call.json) {
    output().json({{"text", record.texts[0]},
                   {"pair", record.texts[1]},
                   {bits ? "hamming" : "cosine", std::move(result)}});
    return;
  }
  const std::string shown = result.is_null() ? ""
                            : bits           ? result.dump()
                                             : fixed(result.get<double>(), 6);
  output().line(shown + '\t' + one_line(record.texts[0]) + '\t' + one_line(record.texts[1]));
}

void run_similarity(const SimilarityOptions& options) {
  const ModelFile file(options.call.model, isa_mask_of(options.call.run.isa));
  file.require_tokenizer();
  require_task(file, Task::kEmbed);
  const std::string prompt = options.vectors.prompt(file);
  RecordSource source(options.call.input, kPairForm);
  const uint32_t most = source.limit(kTextsPerRun / 2);
  const ModelSession session(file, options.call.run.threads, 0, 2 * most);

  for (auto records = source.next(most); !records.empty(); records = source.next(most)) {
    std::vector<TextTokens> texts;
    for (const Record& record : records) {
      for (const std::string& text : record.texts) texts.push_back(session.tokenize(prompt + text));
    }
    const Rows<int16_t> vectors = text_vectors(session, file, texts, options.vectors);
    for (size_t i = 0; i < records.size(); ++i) {
      const auto vector = [&](size_t text) {
        return texts[text].ids.empty() ? nullptr : vectors.row(text);
      };
      write_similarity(options, records[i], vector(2 * i), vector(2 * i + 1), vectors.width);
    }
  }
}

}  // namespace

void add_similarity_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("similarity", "Compare two texts by the cosine of their vectors");
  auto options = std::make_shared<SimilarityOptions>();
  add_text_call(*command, options->call, kPairForm, "text, pair, cosine, of bits hamming");
  options->vectors.add_to(*command);
  command->footer(
      "Without --json a line is: cosine (of bits the number of those that differ), text, pair,\n"
      "with tabs between. --prompt goes before both texts.\n"
      "Example:\n"
      "  embert similarity minilm.emb \"a cat on a mat\" \"a kitten on a rug\"");
  command->callback([options] { run_similarity(*options); });
}

}  // namespace embert::cli
