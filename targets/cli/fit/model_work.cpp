// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/fit/model_work.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "embert/embert_run.h"

namespace embert::cli {
namespace {

constexpr std::array<const char*, kWorkKinds> kNames = {
    "multiply_adds", "block_reads",     "pair_reads",  "projected_values", "scores",
    "score_rows",    "residual_values", "activations", "head_blocks",      "embedded_values",
    "head_weights",  "texts",           "rest_reads",  "joined_values"};

constexpr double kBlockRows = 32;  // of runtime/engine: rows that read a weight once
constexpr double kPanel = 16, kStep = 4;

double up_to(double value, double multiple) {
  return static_cast<double>((static_cast<uint64_t>(value) + static_cast<uint64_t>(multiple) - 1) /
                             static_cast<uint64_t>(multiple)) *
         multiple;
}
double count_of(double rows, double size) { return up_to(rows, size) / size; }

/// Rows [rows] x weights [columns] x [inputs], once for each plane of the inputs.
struct Product {
  double rows, columns, inputs, planes = 1;
};

void add_product(ModelWork& work, const Product& product) {
  const double rows = product.planes * product.rows;
  const double weights = up_to(product.columns, kPanel) * up_to(product.inputs, kStep);
  work[kMultiplyAdds] += rows * weights;
  work[kBlockReads] += count_of(rows, kBlockRows) * weights;
  work[kPairReads] += count_of(rows, 2) * weights;
  work[kRestReads] += std::fmod(rows, 4) > 0 ? weights : 0;
  if (product.planes > 1) work[kJoinedValues] += product.rows * product.columns;
}

/// Whether nothing behind the last layer reads a token but the first.
bool reads_first_token_alone(const embert_model& model, const embert_model_info& info) {
  if (info.num_token_labels > 0 || info.has_lm != 0) return false;
  if (info.num_labels > 0 && info.has_pooler != 0) return true;
  for (uint32_t i = 0; i < info.num_poolings; ++i) {
    if (embert_model_pooling(&model, i) != EMBERT_POOLING_CLS) return false;
  }
  return true;
}

std::optional<embert_section> section_named(const embert_model& model, std::string_view name) {
  embert_section section = {.size = sizeof(section)};
  for (uint32_t i = 0; embert_model_section(&model, i, &section) == EMBERT_STATUS_OK; ++i) {
    if (section.name == name) return section;
  }
  return {};
}

/// How often each product of a layer is computed: 2 with an input of 16 bits.
struct LayerPlanes {
  bool first_token = false;  ///< the first token's queries, keys and values are of 16 bits
  double qkv = 1, output = 1, up = 1, down = 1, values = 1;
  bool scores = false;       ///< queries and keys have two planes, in rows of twice the inputs
  double copied_inputs = 0;  ///< that ffn_up reads a second time
  double first_columns = 0;  ///< of ffn_down, which are a product of their own; 0: all are one
};

/// [layers]; the record is BlobPlanes of runtime/format/FORMAT.md.
std::vector<LayerPlanes> planes_of(const FitModel& model, uint32_t layers) {
  constexpr size_t kRecord = 8;
  std::vector<LayerPlanes> planes(layers);
  const auto section = section_named(*model.model, "two-plane inputs");
  if (!section) return planes;
  for (uint32_t layer = 0; layer < layers; ++layer) {
    const uint8_t* record = model.blob.data() + section->offset + layer * kRecord;
    const auto computed = [record](size_t input) { return record[input] >= 2 ? 2.0 : 1.0; };
    planes[layer] = {.first_token = record[0] == 1,
                     .qkv = computed(0),
                     .output = computed(1),
                     .up = computed(2),
                     .down = computed(3),
                     .values = computed(4),
                     .scores = record[4] == 3,
                     .copied_inputs = record[5] + 0.0,
                     .first_columns = record[6] + 256.0 * record[7]};
  }
  return planes;
}

}  // namespace

std::optional<ModelWork> work_of(const FitModel& fit_model) {
  const embert_model& model = *fit_model.model;
  embert_model_info info = {.size = sizeof(info)};
  check(embert_model_get_info(&model, &info), "embert_model_get_info");
  if (info.num_stacks != 1 || info.is_decoder != 0 || info.num_layers == 0 ||
      section_named(model, "bottleneck")) {
    return std::nullopt;
  }
  const double hidden = info.hidden_size, size = info.head_size, inner = info.intermediate_size;
  const double all = fit_model.tokens;
  const double ups = section_named(model, "gated feed-forward") ? 2 : 1;
  const bool first_alone = reads_first_token_alone(model, info);
  const std::vector<LayerPlanes> planes = planes_of(fit_model, info.num_layers);
  ModelWork work = {};
  for (uint32_t layer = 0; layer < info.num_layers; ++layer) {
    const double heads = embert_model_layer_heads(&model, 0, layer), width = heads * size;
    const double rows = first_alone && layer + 1 == info.num_layers ? 1 : all;
    const double columns = up_to(size, kPanel);
    const LayerPlanes& plane = planes[layer];
    for (double head = 0; head < heads; ++head) {
      if (rows == all) {
        add_product(work, {all, 3 * columns, hidden, plane.qkv});
      } else {
        add_product(work, {all, 2 * columns, hidden, plane.qkv});
        add_product(work, {rows, columns, hidden, plane.qkv});
      }
      if (plane.first_token) add_product(work, {1, 3 * columns, hidden, 2});
      add_product(work, plane.scores ? Product{rows, all, 2 * size, 2} : Product{rows, all, size});
      add_product(work, {rows, 2 * columns, all, plane.values});
    }
    add_product(work, {rows, hidden, width, plane.output});
    add_product(work, {rows, ups * inner, hidden + plane.copied_inputs, plane.up});
    const bool groups = plane.first_columns > 0;
    add_product(work, {rows, hidden, inner - plane.first_columns, plane.down});
    if (groups) add_product(work, {rows, hidden, plane.first_columns, plane.down});
    work[kProjectedValues] += 2 * all * width + rows * width;
    work[kScores] += heads * rows * up_to(all, kPanel);
    work[kScoreRows] += heads * rows;
    // Sums of a second group are added without another LayerNorm: about a third of the work.
    work[kResidualValues] += (groups ? 2 + 1.0 / 3 : 2) * rows * hidden;
    work[kActivations] += ups * rows * inner;
    work[kHeadBlocks] += heads * count_of(all, kBlockRows);
  }
  work[kEmbeddedValues] = all * hidden;
  if (info.num_labels > 0) {
    work[kHeadWeights] = hidden * info.num_labels + (info.has_pooler != 0 ? hidden * hidden : 0);
  }
  work[kTexts] = 1;
  return work;
}

Json work_json(const ModelWork& work) {
  Json json = Json::object();
  for (size_t kind = 0; kind < kWorkKinds; ++kind) json[kNames[kind]] = work[kind];
  return json;
}

}  // namespace embert::cli
