// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/embed_task.hpp"

#include <atomic>

#include "targets/hosted/line_text.hpp"

namespace embert::hosted {
namespace {

/// The values of a packed vector: [n] reals, or bytes as whole numbers.
Json values_json(const VectorView& vector, embert_vector_format format) {
  if (format == EMBERT_VECTOR_FLOAT32) return real_values(vector);
  std::vector<uint8_t> packed(packed_bytes(format, vector.n));
  pack_vector(vector, format, packed.data());
  if (!is_signed(format)) return packed;
  return std::vector<int8_t>(packed.begin(), packed.end());
}

std::string values_plain(const VectorView& vector, embert_vector_format format) {
  std::string line;
  const Json values = values_json(vector, format);
  for (const Json& value : values) {
    if (!line.empty()) line += ' ';
    line += value.is_number_float() ? fixed(value.get<double>(), 6) : value.dump();
  }
  return line;
}

}  // namespace

TextTask prepare_embed(HostedModel& model, const VectorOptions& options) {
  model.file().require_tokenizer();
  check_vector_options(model.file(), options);
  return {[&model, options](const embert_hosted_texts& texts, LineForm form, Progress& progress) {
            TaskLines result;
            result.lines.resize(texts.count);
            std::atomic<size_t> truncated = 0;
            text_vectors(model, texts, options, progress, [&](const TextVector& row) {
              truncated += row.truncated ? 1 : 0;
              std::string& line = result.lines[row.text];
              if (form == LineForm::kJson) {
                Json values;  // stays null for a text without tokens
                if (row.tokens > 0) values = values_json(row.vector, options.format);
                Json object = {{"text", text_at(texts, row.text).text},
                               {"tokens", row.tokens},
                               {"embedding", std::move(values)}};
                if (row.truncated) object[kTruncatedKey] = true;
                if (row.windows > 1) object[kWindowsKey] = row.windows;
                line = json_line(object);
              } else if (row.tokens > 0) {
                line = values_plain(row.vector, options.format);
              }
            });
            result.truncated = truncated;
            return result;
          },
          kSortedTextsAtOnce};
}

}  // namespace embert::hosted
