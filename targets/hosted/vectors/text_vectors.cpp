// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/vectors/text_vectors.hpp"

#include <mutex>
#include <vector>

#include "embert/embert_vector.h"
#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/line_text.hpp"
#include "targets/hosted/model/model_prompts.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/texts/long_texts.hpp"

namespace embert::hosted {
namespace {

constexpr embert_scale kNormalizedScale = {(127u - 15u) << 23};  // 2^-15

/// Returns what is put before each text.
std::string prompt_of(const ModelFile& file, const VectorOptions& options) {
  return options.prompt ? *options.prompt : prompt_text(file, options.prompt_name);
}

}  // namespace

uint32_t check_vector_options(const ModelFile& file, const VectorOptions& options) {
  require_task(file, Task::kEmbed);
  const embert_model_info& info = file.info();
  const uint32_t wanted = options.dimensions != 0 ? options.dimensions : info.vector_size;
  if (wanted > info.vector_size) {
    throw UsageError("dimensions " + std::to_string(wanted) + ": the vectors of " +
                     quoted_path(file.path()) + " have " + std::to_string(info.vector_size));
  }
  if (options.format == EMBERT_VECTOR_INT8_UNIT && info.normalize == 0 && !options.normalize) {
    throw UsageError("format int8-unit is for vectors of length 1: ask for normalize, as " +
                     quoted_path(file.path()) + " makes others");
  }
  if (options.pooling != EMBERT_POOLING_MODEL &&
      (info.num_poolings > 1 || info.num_vector_dense > 0 || info.pooling > EMBERT_POOLING_MAX)) {
    throw UsageError(
        "pooling: " + quoted_path(file.path()) +
        " has several poolings, one of its own kind or dense layers behind pooling, so "
        "that no other pooling fits it");
  }
  prompt_of(file, options);
  return wanted;
}

VectorView shaped_vector(const ModelFile& file, const VectorOptions& options,
                         const VectorView& vector, std::vector<int16_t>& storage) {
  const size_t wanted = options.dimensions != 0 ? options.dimensions : vector.n;
  const bool normalize = options.normalize || (file.info().normalize != 0 && wanted < vector.n);
  if (!normalize) return {vector.values, wanted, vector.scale};
  storage.resize(wanted);
  check(embert_normalize_int16(vector.values, wanted, storage.data()), "embert_normalize_int16");
  return {storage.data(), wanted, kNormalizedScale};
}

void text_vectors(HostedModel& model, const embert_hosted_texts& texts,
                  const VectorOptions& options, Progress& progress, const TextVectorSink& sink) {
  const ModelFile& file = model.file();
  const uint32_t wanted = check_vector_options(file, options);
  const std::string prompt = prompt_of(file, options);
  std::mutex mutex;
  std::vector<size_t> long_texts;
  const auto shape = [&](const VectorView& vector, TextVector result) {
    std::vector<int16_t> storage;
    result.vector = shaped_vector(file, options, vector, storage);
    sink(result);
  };
  const size_t size = file.info().vector_size;
  const LongTexts long_rows = options.windows ? LongTexts::kLeftOut : LongTexts::kCut;
  const EmbedPass pass = {options.pooling, prompt, long_rows};
  embed_texts(model, texts, pass, progress, [&](const TextRow<int16_t>& row) {
    if (row.truncated && options.windows) {
      const std::lock_guard lock(mutex);
      return long_texts.push_back(row.text);
    }
    const TextVector result = {
        row.text, row.tokens, row.truncated, 1, {nullptr, wanted, row.scale}};
    row.tokens == 0 ? sink(result) : shape({row.values, size, row.scale}, result);
  });
  for (const size_t text : long_texts) {
    for_text(text, [&] {
      const LongVector mean =
          embed_long_text(model, prompt, text_at(texts, text).text, options.pooling);
      shape({mean.values.data(), size, mean.scale}, {text, mean.tokens, false, mean.windows, {}});
    });
  }
}

}  // namespace embert::hosted
