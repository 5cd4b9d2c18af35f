// SPDX-License-Identifier: Apache-2.0
// Views into a blob that model_check.cpp has found sound.
#include "runtime/model.hpp"

#include <string.h>

#include "kernels/layout.hpp"

namespace embert {
namespace {

static_assert(sizeof(Model) <= sizeof(embert_model), "embert_model holds a Model");

const BlobSection& section(const Model& model, BlobSectionKind kind, size_t layer) {
  if (kind < kFirstLayerSection) return model.sections[kind - kSectionLayers];
  const size_t layers = model.header->num_layers;
  if (kind >= kSectionOutputNormGain) {
    return model
        .sections[kSectionsBefore + layers * kSectionsPerLayer + kind - kSectionOutputNormGain];
  }
  return model.sections[kSectionsBefore + layer * kSectionsPerLayer + kind - kFirstLayerSection];
}

template <typename T>
const T* view(const Model& model, BlobSectionKind kind, size_t layer = 0) {
  return reinterpret_cast<const T*>(model.blob + section(model, kind, layer).offset);
}

Requantize factor(const int32_t* multiplier, BlobShifts shifts) {
  return {multiplier, shifts.left, shifts.right};
}

}  // namespace

Model model_of(const embert_model& object) {
  Model model;
  memcpy(&model, object.opaque, sizeof(model));
  return model;
}

const uint8_t* model_section(const Model& model, BlobSectionKind kind) {
  return view<uint8_t>(model, kind);
}

size_t model_section_bytes(const Model& model, BlobSectionKind kind) {
  return static_cast<size_t>(section(model, kind, 0).bytes);
}

Layer model_layer(const Model& model, size_t l) {
  const BlobLayer& record = view<BlobLayer>(model, kSectionLayers)[l];
  const auto s8 = [&](BlobSectionKind kind) { return view<int8_t>(model, kind, l); };
  const auto s32 = [&](BlobSectionKind kind) { return view<int32_t>(model, kind, l); };
  const size_t head_columns = pad_columns(model.header->head_size);
  const int32_t* qkv_multipliers = s32(kSectionQkvMultipliers);

  Layer layer = {};
  layer.num_heads = record.num_heads;
  layer.intermediate_size = record.intermediate_size;
  layer.input_norm = {s32(kSectionInputNormGain), s32(kSectionInputNormBias),
                      record.input_norm.epsilon_n2, record.input_norm.shift};
  layer.qkv = {s8(kSectionQkvWeights), s32(kSectionQkvBias), s32(kSectionQkvSums), {}};
  layer.query = factor(qkv_multipliers, record.query);
  layer.key = factor(qkv_multipliers + head_columns, record.key);
  layer.value = factor(qkv_multipliers + 2 * head_columns, record.value);
  layer.score_multipliers = view<uint32_t>(model, kSectionScoreMultipliers, l);
  layer.distance_caps = s32(kSectionDistanceCaps);
  layer.context = factor(s32(kSectionContextMultipliers), record.context);
  layer.output = {{s8(kSectionOutputWeights), nullptr, s32(kSectionOutputSums),
                   factor(s32(kSectionOutputMultipliers), record.output)},
                  s32(kSectionOutputResidual),
                  s32(kSectionOutputConstants)};
  layer.attention_norm = {s32(kSectionAttentionNormGain), s32(kSectionAttentionNormBias),
                          record.attention_norm.epsilon_n2, record.attention_norm.shift};
  layer.ffn1 = {s8(kSectionFfn1Weights), s32(kSectionFfn1Bias), s32(kSectionFfn1Sums),
                factor(s32(kSectionFfn1Multipliers), record.ffn1)};
  layer.activation = model_activation(model.header->activation, record.activation_exponent);
  layer.ffn2 = {{s8(kSectionFfn2Weights), nullptr, s32(kSectionFfn2Sums),
                 factor(s32(kSectionFfn2Multipliers), record.ffn2)},
                s32(kSectionFfn2Residual),
                s32(kSectionFfn2Constants)};
  return layer;
}

Norm model_output_norm(const Model& model) {
  return {view<int32_t>(model, kSectionOutputNormGain),
          view<int32_t>(model, kSectionOutputNormBias), model.header->output_norm.epsilon_n2,
          model.header->output_norm.shift};
}

HeadDense model_pooler(const Model& model) {
  const BlobHeadDense& record = model.header->pooler;
  return {{view<int8_t>(model, kSectionPoolerWeights), view<int32_t>(model, kSectionPoolerBias),
           view<int32_t>(model, kSectionPoolerSums),
           factor(view<int32_t>(model, kSectionPoolerMultipliers), record.shifts)},
          record.join_shift};
}

HeadDense model_classifier(const Model& model) {
  const BlobHeadDense& record = model.header->classifier;
  return {
      {view<int8_t>(model, kSectionClassifierWeights), view<int32_t>(model, kSectionClassifierBias),
       view<int32_t>(model, kSectionClassifierSums),
       factor(view<int32_t>(model, kSectionClassifierMultipliers), record.shifts)},
      record.join_shift};
}

Activation model_activation(uint32_t kind, int32_t exponent) {
  switch (kind) {
    case kActivationGelu:
      return {kGeluNodes, 64, kGeluOffset, 0, exponent};
    case kActivationGeluNew:
      return {kGeluNewNodes, 64, kGeluNewOffset, 0, exponent};
    case kActivationSilu:
      return {kSiluNodes, 256, kSiluOffset, 0, exponent};
    case kActivationTanh:
      return {kTanhNodes, 128, 0, 1, exponent};
    default:
      return {nullptr, 0, 0, 0, exponent};  // relu
  }
}

}  // namespace embert

embert_status embert_model_get_info(const embert_model* object, embert_model_info* info) {
  using namespace embert;
  if (object == nullptr || info == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const Model model = model_of(*object);
  const BlobHeader& header = *model.header;
  *info = {};
  info->hidden_size = header.hidden_size;
  info->num_layers = header.num_layers;
  info->num_heads = header.num_heads;
  info->head_size = header.head_size;
  info->intermediate_size = header.intermediate_size;
  info->vocab_size = header.vocab_size;
  info->max_positions = header.max_positions;
  info->type_vocab_size = header.type_vocab_size;
  info->max_tokens = header.max_tokens;
  info->num_labels = header.num_labels;
  info->problem = header.problem;
  info->pooling = header.pooling;
  info->normalize = header.normalize;
  info->has_tokenizer = model.has_tokenizer;
  info->has_pooler = header.head >= kHeadPooler;
  info->isa_mask = model.isa_mask;
  info->certificate = reinterpret_cast<const char*>(model_section(model, kSectionCertificate));
  info->certificate_bytes = model_section_bytes(model, kSectionCertificate);
  return EMBERT_STATUS_OK;
}

const char* embert_model_label(const embert_model* object, uint32_t label) {
  using namespace embert;
  if (object == nullptr) return nullptr;
  const Model model = model_of(*object);
  if (label >= model.header->num_labels) return nullptr;
  const char* name = reinterpret_cast<const char*>(model_section(model, kSectionLabels));
  for (; label > 0; ++name) label -= *name == '\0';
  return name;
}
