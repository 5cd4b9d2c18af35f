// SPDX-License-Identifier: Apache-2.0
// embert similarity: the cosine or the Hamming distance of two texts' vectors, in integers.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <vector>

#include "embert/embert_vector.h"
#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/tasks/task_arguments.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/hosted/vectors/text_vectors.hpp"

namespace embert::cli {
namespace {

struct SimilarityOptions {
  TextCall call;
  VectorOptions vectors;
};

/// The vectors of a list of texts, as the runtime compares them.
struct Vectors {
  size_t dimensions;
  std::vector<int16_t> values;   ///< [texts x dimensions]
  std::vector<bool> has_tokens;  ///< [texts]
  std::vector<bool> truncated;   ///< [texts]

  const int16_t* row(size_t i) const { return values.data() + i * dimensions; }
};

std::vector<uint8_t> packed(const int16_t* values, size_t size, embert_vector_format format) {
  std::vector<uint8_t> bytes(packed_bytes(format, size));
  pack_vector({values, size, {}}, format, bytes.data());
  return bytes;
}

double cosine(const int16_t* a, const int16_t* b, size_t size, embert_vector_format format) {
  int32_t cosine_q30 = 0;
  if (format == EMBERT_VECTOR_INT8) {
    std::vector<int8_t> bytes[2] = {std::vector<int8_t>(size), std::vector<int8_t>(size)};
    pack_vector({a, size, {}}, format, bytes[0].data());
    pack_vector({b, size, {}}, format, bytes[1].data());
    check(embert_cosine_int8(bytes[0].data(), bytes[1].data(), size, &cosine_q30),
          "embert_cosine_int8");
  } else {
    check(embert_cosine_int16(a, b, size, &cosine_q30), "embert_cosine_int16");
  }
  return cosine_q30 / double{EMBERT_Q30_ONE};
}

uint32_t hamming(const int16_t* a, const int16_t* b, size_t size, embert_vector_format format) {
  uint32_t distance = 0;
  check(embert_hamming(packed(a, size, format).data(), packed(b, size, format).data(), size,
                       &distance),
        "embert_hamming");
  return distance;
}

/// Writes the result of texts 2 * pair and 2 * pair + 1.
void write_similarity(const SimilarityOptions& options, const Record& record,
                      const Vectors& vectors, size_t pair) {
  const embert_vector_format format = options.vectors.format;
  const bool bits = format >= EMBERT_VECTOR_UBINARY;
  Json result;  // stays null if a text has no tokens
  if (vectors.has_tokens[2 * pair] && vectors.has_tokens[2 * pair + 1]) {
    const int16_t *a = vectors.row(2 * pair), *b = vectors.row(2 * pair + 1);
    result = bits ? Json(hamming(a, b, vectors.dimensions, format))
                  : Json(cosine(a, b, vectors.dimensions, format));
  }
  if (options.call.json) {
    Json object = {{"text", record.texts[0]},
                   {"pair", record.texts[1]},
                   {bits ? "hamming" : "cosine", std::move(result)}};
    if (vectors.truncated[2 * pair] || vectors.truncated[2 * pair + 1]) {
      object[kTruncatedKey] = true;
    }
    return output().line(record.with_carried(json_line(object)));
  }
  const std::string shown = result.is_null() ? ""
                            : bits           ? result.dump()
                                             : fixed(result.get<double>(), 6);
  output().line(shown + '\t' + one_line(record.texts[0]) + '\t' + one_line(record.texts[1]));
}

/// The vectors of both texts of each record.
Vectors vectors_of(HostedModel& model, const VectorOptions& options,
                   const std::vector<Record>& records, Progress& progress) {
  TextList texts;
  for (const Record& record : records) {
    for (const std::string& text : record.texts) texts.add(text);
  }
  const size_t dimensions = check_vector_options(model.file(), options);
  Vectors vectors = {dimensions, std::vector<int16_t>(texts.count() * dimensions), {}, {}};
  // Threads write neighbours at the same time, which bits of a vector<bool> do not allow.
  std::vector<uint8_t> has_tokens(texts.count()), truncated(texts.count());
  try {
    text_vectors(model, texts.view(), options, progress, [&](const TextVector& row) {
      has_tokens[row.text] = row.tokens > 0;
      truncated[row.text] = row.truncated;
      if (row.tokens == 0) return;
      std::copy_n(row.vector.values, dimensions, vectors.values.data() + row.text * dimensions);
    });
  } catch (const TextError& error) {
    throw TextError(error.text / 2, error.what());  // the index of its record
  }
  vectors.has_tokens.assign(has_tokens.begin(), has_tokens.end());
  vectors.truncated.assign(truncated.begin(), truncated.end());
  return vectors;
}

void run_similarity(SimilarityOptions options) {
  options.vectors.windows = options.call.reads_windows();
  const auto model = open_model(options.call);
  model->file().require_tokenizer();
  check_vector_options(model->file(), options.vectors);
  for_records(options.call, kPairForm, kSortedTextsAtOnce / 2,
              [&](const std::vector<Record>& records, Progress& progress) {
                const Vectors vectors = vectors_of(*model, options.vectors, records, progress);
                for (size_t i = 0; i < records.size(); ++i) {
                  write_similarity(options, records[i], vectors, i);
                }
                return static_cast<size_t>(
                    std::count(vectors.truncated.begin(), vectors.truncated.end(), true));
              });
}

}  // namespace

void add_similarity_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("similarity", "Compare two texts by the cosine of their vectors");
  auto options = std::make_shared<SimilarityOptions>();
  add_text_call(*command, options->call, kPairForm, {{"text", "pair", "cosine", "hamming"}, ""});
  add_on_long_windows_option(*command, options->call, "vectors");
  add_vector_options(*command, options->vectors);
  command->footer(
      "Without --json a line is: cosine (of bits the number of those that differ), text, pair,\n"
      "with tabs between. --prompt goes before both texts.\n"
      "Example:\n"
      "  embert similarity minilm.emb \"a cat on a mat\" \"a kitten on a rug\"");
  command->callback([options] { run_similarity(*options); });
}

}  // namespace embert::cli
