// SPDX-License-Identifier: Apache-2.0
// embert_hosted_embed and embert_hosted_score: arrays for lists of texts.
#include <atomic>
#include <cmath>
#include <cstring>

#include "embert/embert_tasks.h"
#include "targets/hosted/c_api/hosted_calls.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/read_struct.hpp"
#include "targets/hosted/tasks/common/logit_scores.hpp"
#include "targets/hosted/vectors/text_vectors.hpp"

namespace embert::hosted {
namespace {

static_assert(ends_with(offsetof(embert_hosted_vector_options, scale),
                        &embert_hosted_vector_options::scale));

struct CallOptions : VectorOptions {
  embert_scale* scale = nullptr;
};

CallOptions call_options(const embert_hosted_vector_options* options) {
  CallOptions chosen;
  if (options == nullptr) return chosen;
  const auto given = read_struct(options, sizeof(options->size), "embert_hosted_vector_options");
  if (given.pooling > EMBERT_POOLING_MAX + 1 && given.pooling != EMBERT_POOLING_MODEL + 1) {
    throw UsageError("pooling " + std::to_string(given.pooling) +
                     ": it takes 0, or an embert_pooling + 1");
  }
  if (given.pooling != 0) chosen.pooling = static_cast<embert_pooling>(given.pooling - 1);
  if (given.format > EMBERT_VECTOR_BITS_LSB) {
    throw UsageError("format " + std::to_string(given.format) + ": there is none of this number");
  }
  if (given.normalize > 1) throw UsageError("normalize: it takes 0 or 1");
  chosen.normalize = given.normalize != 0;
  chosen.dimensions = given.dimensions;
  chosen.format = given.format;
  if (given.prompt != nullptr) chosen.prompt = given.prompt;
  chosen.scale = given.scale;
  if (given.prompt_name != nullptr) chosen.prompt_name = given.prompt_name;
  return chosen;
}

}  // namespace
}  // namespace embert::hosted

using namespace embert::hosted;

embert_hosted_result embert_hosted_vector_bytes(const embert_hosted* model,
                                                const embert_hosted_vector_options* options,
                                                size_t* bytes) {
  return guarded([&] {
    require(model, "model");
    require(bytes, "bytes");
    const CallOptions chosen = call_options(options);
    *bytes = packed_bytes(chosen.format, check_vector_options(model->model.file(), chosen));
  });
}

embert_hosted_result embert_hosted_embed(embert_hosted* model, const embert_hosted_texts* texts,
                                         const embert_hosted_vector_options* options, void* vectors,
                                         size_t vectors_bytes) {
  return guarded([&] {
    require(model, "model");
    model->model.team();  // a forked child learns it before all else
    const embert_hosted_texts list = checked_texts(texts);
    const CallOptions chosen = call_options(options);
    const size_t row_bytes =
        packed_bytes(chosen.format, check_vector_options(model->model.file(), chosen));
    if (list.count > SIZE_MAX / row_bytes || vectors_bytes < list.count * row_bytes) {
      throw UsageError("vectors_bytes " + std::to_string(vectors_bytes) + ": " +
                       std::to_string(list.count) + " vectors take " + std::to_string(row_bytes) +
                       " bytes each");
    }
    if (list.count > 0) require(vectors, "vectors");
    auto* rows = static_cast<uint8_t*>(vectors);
    std::atomic<uint32_t> scale_bits = 0;
    Progress progress = progress_of(list);
    text_vectors(model->model, list, chosen, progress, [&](const TextVector& result) {
      uint8_t* row = rows + result.text * row_bytes;
      if (result.tokens == 0) {
        std::memset(row, 0, row_bytes);
        return;
      }
      pack_vector(result.vector, chosen.format, row);
      scale_bits.store(result.vector.scale.float_bits, std::memory_order_relaxed);
    });
    if (chosen.scale != nullptr) *chosen.scale = {scale_bits.load(std::memory_order_relaxed)};
  });
}

embert_hosted_result embert_hosted_score(embert_hosted* model, const embert_hosted_texts* texts,
                                         const char* function, float* scores) {
  return guarded([&] {
    require(model, "model");
    model->model.team();
    const embert_hosted_texts list = checked_texts(texts);
    const ModelFile& file = model->model.file();
    require_task(file, Task::kClassify);
    const embert_score_function chosen =
        score_function(function != nullptr ? function : "", file.info());
    if (list.count > 0) require(scores, "scores");
    const size_t labels = file.info().num_labels;
    Progress progress = progress_of(list);
    classify_texts(model->model, list, progress, [&](const TextRow<int32_t>& row) {
      float* text_scores = scores + row.text * labels;
      if (row.tokens == 0) {
        std::fill_n(text_scores, labels, std::nanf(""));
        return;
      }
      for (const LabelScore& entry : rank_labels({row.values, labels, row.scale}, chosen, 0)) {
        text_scores[entry.label] = static_cast<float>(entry.score);
      }
    });
  });
}
