// SPDX-License-Identifier: Apache-2.0
// Finds the parts of a blob that validator.cpp has accepted.
#include "runtime/model/model.hpp"

#include <string.h>

#include "runtime/model/section_sizes.hpp"

namespace embert {
namespace {

static_assert(sizeof(Model) <= sizeof(embert_model), "embert_model holds a Model");

size_t model_sections_begin(const Model& model) {
  size_t index = 0;
  for (uint32_t i = 0; i < model.header->num_stacks; ++i) {
    index += stack_sections(model.header->stacks[i].num_layers);
  }
  return index;
}

const BlobSection& section(const Model& model, BlobSectionKind kind) {
  return model.sections[model_sections_begin(model) + kind - kFirstModelSection];
}

/// Hands out the parts of a section one after another. False where the section is empty.
class Parts {
 public:
  explicit Parts(const uint8_t* at) : at_(at), is_present_(at != nullptr) {}
  Parts(const Model& model, const BlobSection& section)
      : at_(model.blob + section.offset), is_present_(section.bytes > 0) {}
  explicit operator bool() const { return is_present_; }

  template <typename T>
  const T* take(size_t count) {
    const T* part = reinterpret_cast<const T*>(at_);
    at_ += count * sizeof(T);
    return part;
  }

 private:
  const uint8_t* at_;
  bool is_present_;
};

Requantize factor(const int32_t* multiplier, BlobShifts shifts) {
  return {multiplier, shifts.left, shifts.right};
}

/// A dense layer whose parts come next in a section.
Dense own_dense(Parts& parts, size_t n, size_t k, BlobShifts shifts) {
  const size_t columns = pad_columns(n);
  const int8_t* weights = parts.take<int8_t>(columns * pad_inputs(k));
  const int32_t* bias = parts.take<int32_t>(columns);
  const int32_t* sums = parts.take<int32_t>(columns);
  return {weights, bias, sums, factor(parts.take<int32_t>(columns), shifts)};
}

/// A section of one dense layer; all zero where the section is empty.
Dense dense(Parts parts, size_t n, size_t k, BlobShifts shifts) {
  return parts ? own_dense(parts, n, k, shifts) : Dense{};
}

/// A residual dense layer whose parts come next in a section.
ResidualDense own_residual_dense(Parts& parts, size_t n, size_t k, BlobShifts shifts) {
  const size_t columns = pad_columns(n);
  const int8_t* weights = parts.take<int8_t>(columns * pad_inputs(k));
  const int32_t* sums = parts.take<int32_t>(columns);
  const int32_t* multipliers = parts.take<int32_t>(columns);
  const int32_t* residual = parts.take<int32_t>(columns);
  return {{weights, nullptr, sums, factor(multipliers, shifts)},
          residual,
          parts.take<int32_t>(columns),
          false};
}

ResidualDense residual_dense(Parts parts, size_t n, size_t k, BlobShifts shifts) {
  return parts ? own_residual_dense(parts, n, k, shifts) : ResidualDense{};
}

/// A LayerNorm whose parts come next in a section; all zero where the record is.
Norm own_norm(Parts& parts, size_t size, const BlobNorm& record) {
  if (record.shift == 0) return {};
  const int32_t* gain = parts.take<int32_t>(size);
  return {gain, parts.take<int32_t>(size), record.epsilon_n2, record.shift};
}

Norm norm(Parts parts, size_t size, const BlobNorm& record) {
  return parts ? own_norm(parts, size, record) : Norm{};
}

Dense16 dense16(const Model& model, BlobSectionKind kind, size_t n, size_t k,
                const BlobDense16& record) {
  return {dense(Parts(model, section(model, kind)), n, k, record.shifts), record.join_shift};
}

void add_projection(const uint8_t* section, Stack& stack) {
  const auto* record = reinterpret_cast<const BlobEmbeddingProjection*>(section);
  const size_t hidden = stack.config->hidden_size, size = record->embedding_size;
  const uint8_t* weights = section + sizeof(*record);
  stack.embedding_size = size;
  stack.projection.dense = {dense(Parts(weights), hidden, size, record->dense.shifts),
                            record->dense.join_shift};
  stack.projection.norm = norm(Parts(weights + dense_bytes(hidden, size)), size, record->norm);
}

void add_word_projection(const uint8_t* section, Stack& stack) {
  const auto* record = reinterpret_cast<const BlobWordProjection*>(section);
  stack.word_size = record->word_size;
  stack.word_projection = {{dense(Parts(section + sizeof(*record)), stack.config->hidden_size,
                                  stack.word_size * record->words, record->dense.shifts),
                            record->dense.join_shift},
                           record->words};
}

}  // namespace

/// The header of a model that was never opened: one stack of nothing, so that range checks refuse
/// all that a caller asks of it.
static constexpr BlobHeader kUnopenedHeader = {
    .num_stacks = 1, .start_id = UINT32_MAX, .end_id = UINT32_MAX};

Model model_of(const embert_model& object) {
  Model model;
  memcpy(&model, object.opaque, sizeof(model));
  if (model.header == nullptr) model = {.header = &kUnopenedHeader};
  return model;
}

bool is_open(const Model& model) { return model.blob != nullptr; }

const uint8_t* model_section(const Model& model, BlobSectionKind kind) {
  return model.blob + section(model, kind).offset;
}

size_t model_section_bytes(const Model& model, BlobSectionKind kind) {
  return static_cast<size_t>(section(model, kind).bytes);
}

const uint8_t* model_optional_section(const Model& model, BlobOptionalKind kind, size_t layer) {
  for (size_t i = model_sections_begin(model) + kSectionsOfModel; i < model.header->section_count;
       ++i) {
    const BlobSection& entry = model.sections[i];
    if (entry.kind == kind && entry.layer == layer) return model.blob + entry.offset;
  }
  return nullptr;
}

Prompts model_prompts(const Model& model) {
  const uint8_t* section = model_optional_section(model, kSectionPrompts);
  if (section == nullptr) return {0, UINT32_MAX, nullptr};
  const BlobPrompts* prompts = reinterpret_cast<const BlobPrompts*>(section);
  return {prompts->count, prompts->default_prompt, reinterpret_cast<const char*>(prompts + 1)};
}

const BlobVector* model_vector(const Model& model) {
  if ((model.header->task_heads & kHeadVector) == 0) return nullptr;
  return reinterpret_cast<const BlobVector*>(model_optional_section(model, kSectionVector));
}

VectorDense model_vector_dense(const Model& model, size_t index) {
  const BlobVector* vector = model_vector(model);
  const uint8_t* at = reinterpret_cast<const uint8_t*>(vector + 1);
  size_t inputs = vector->num_poolings * size_t{model_last_stack(model).config->hidden_size};
  for (size_t i = 0; i < index; ++i) {
    at += dense_bytes(vector->dense[i].outputs, inputs);
    inputs = vector->dense[i].outputs;
  }
  const BlobVectorDense& record = vector->dense[index];
  return {{dense(Parts(at), record.outputs, inputs, record.dense.shifts), record.dense.join_shift},
          inputs};
}

size_t model_vector_size(const Model& model) {
  const BlobVector* vector = model_vector(model);
  return vector != nullptr ? vector->vector_size : model_last_stack(model).config->hidden_size;
}

Stack model_stack(const Model& model, size_t index) {
  Stack stack = {};
  stack.config = model.header->stacks + index;
  if (!is_open(model)) return stack;
  for (size_t i = 0; i < index; ++i) {
    stack.first_section += stack_sections(model.header->stacks[i].num_layers);
  }
  const auto contents = [&](uint32_t kind) {
    return model.blob + model.sections[stack.first_section + kind - kSectionLayers].offset;
  };
  stack.word_embeddings = reinterpret_cast<const int8_t*>(contents(kSectionWordEmbeddings));
  stack.word_multipliers = reinterpret_cast<const int32_t*>(contents(kSectionWordMultipliers));
  stack.positions = reinterpret_cast<const int16_t*>(contents(kSectionPositions));
  stack.segments = reinterpret_cast<const int16_t*>(contents(kSectionSegments));
  const uint32_t flags = stack.config->flags;
  const size_t hidden = stack.config->hidden_size;
  stack.embedding_size = hidden;
  // The flags keep models without these options from looking for their sections.
  stack.padding_id = UINT32_MAX;
  if (has(flags, kStackPaddingPosition)) {
    stack.padding_id = reinterpret_cast<const BlobPaddingPosition*>(
                           model_optional_section(model, kSectionPaddingPosition))
                           ->padding_id;
  }
  if (has(flags, kStackScoreBias)) {
    stack.score_bias =
        reinterpret_cast<const int32_t*>(model_optional_section(model, kSectionScoreBias));
  }
  if (has(flags, kStackEmbeddingProjection)) {
    add_projection(model_optional_section(model, kSectionEmbeddingProjection), stack);
  }
  if (has(flags, kStackSharedLayers)) {
    stack.shared = reinterpret_cast<const BlobSharedLayer*>(
        model_optional_section(model, kSectionSharedLayers));
  }
  if (has(flags, kStackBottleneck)) {
    stack.bottleneck =
        reinterpret_cast<const BlobBottleneck*>(model_optional_section(model, kSectionBottleneck));
  }
  stack.word_size = stack.embedding_size;
  if (has(flags, kStackWordProjection)) {
    add_word_projection(model_optional_section(model, kSectionWordProjection), stack);
  }
  stack.position_stride = has(flags, kStackRotary | kStackStatic) ? 0 : stack.embedding_size;
  if (has(flags, kStackRotary)) {
    stack.rotary =
        reinterpret_cast<const BlobRotary*>(model_optional_section(model, kSectionRotary));
  }
  if (has(flags, kStackStatic)) {
    stack.static_embeddings =
        reinterpret_cast<const BlobStatic*>(model_optional_section(model, kSectionStatic));
  }
  if (has(flags, kStackEmbeddings4Bit)) {
    const auto* record = reinterpret_cast<const BlobEmbeddings4Bit*>(
        model_optional_section(model, kSectionEmbeddings4Bit));
    stack.word_embeddings = nullptr;
    stack.embeddings_4bit = {record->levels, reinterpret_cast<const uint8_t*>(record + 1)};
  }
  if (has(flags, kStackLocalAttention)) {
    stack.local_attention = reinterpret_cast<const BlobLocalAttention*>(
        model_optional_section(model, kSectionLocalAttention));
  }
  if (has(flags, kStackGatedFfn)) {
    stack.gated_ffn =
        reinterpret_cast<const BlobGatedFfn*>(model_optional_section(model, kSectionGatedFfn));
  }
  if (has(flags, kStackPlanes)) {
    stack.planes =
        reinterpret_cast<const BlobPlanes*>(model_optional_section(model, kSectionPlanes));
  }
  const size_t last = stack.first_section + stack_sections(stack.config->num_layers) - 1;
  stack.final_norm = norm(Parts(model, model.sections[last]), hidden, stack.config->final_norm);
  return stack;
}

Stack model_last_stack(const Model& model) {
  return model_stack(model, model.header->num_stacks - 1);
}

namespace {

/// The table of a layer's angles; layers that are local may have one of their own.
Rotary layer_rotary(const Stack& stack, bool is_local) {
  if (!built(kStackRotary) || stack.rotary == nullptr) return {};
  const BlobRotary& record = *stack.rotary;
  const size_t head_size = stack.config->head_size;
  const int32_t* multipliers = reinterpret_cast<const int32_t*>(&record + 1);
  const int16_t* angles = reinterpret_cast<const int16_t*>(multipliers + pad_columns(head_size));
  const size_t table = is_local ? record.tables - 1 : 0;
  return {angles + table * stack.config->max_positions * head_size,
          factor(multipliers, record.shifts)};
}

CopiedInputs layer_copied_inputs(const Stack& stack, size_t l) {
  if (stack.planes == nullptr) return {};
  const auto* inputs = reinterpret_cast<const uint16_t*>(stack.planes + stack.config->num_layers);
  for (size_t before = 0; before < l; ++before) inputs += stack.planes[before].copied_inputs;
  return {inputs, stack.planes[l].copied_inputs};
}

}  // namespace

Layer model_layer(const Model& model, const Stack& stack, size_t l) {
  const BlobStack& config = *stack.config;
  const BlobSection* sections = model.sections + stack.first_section;
  const BlobSharedLayer use =
      stack.shared != nullptr ? stack.shared[l]
                              : BlobSharedLayer{static_cast<uint32_t>(l), static_cast<uint32_t>(l)};
  const BlobLayer* records = reinterpret_cast<const BlobLayer*>(model.blob + sections->offset);
  const BlobLayer& record = records[use.layer];
  const size_t hidden = config.hidden_size, intra = stack.intra_size(), heads = record.num_heads,
               columns = pad_columns(config.head_size), width = heads * config.head_size,
               table_columns = pad_columns(2 * config.max_positions - 1);
  const auto parts_of = [&](size_t layer, uint32_t kind) {
    return Parts(
        model,
        sections[kSectionsBeforeLayers + layer * kSectionsPerLayer + kind - kFirstLayerSection]);
  };
  const auto parts = [&](uint32_t kind) { return parts_of(use.layer, kind); };
  const auto attention = [&](uint32_t scores_kind, const BlobAttention& shifts) {
    Parts scores = parts(scores_kind);
    Attention a = {};
    a.score_multipliers = scores.take<uint32_t>(heads);
    a.score_caps = scores.take<int32_t>(heads);
    a.query = factor(nullptr, shifts.query);
    a.key = factor(nullptr, shifts.key);
    a.value = factor(nullptr, shifts.value);
    return a;
  };

  Layer layer = {};
  layer.index = l;
  layer.num_heads = heads;
  layer.input_norm =
      norm(parts_of(use.input_norm, kSectionInputNorm), hidden, records[use.input_norm].input_norm);
  layer.hidden_scale = record.hidden_scale;
  if (Parts rows = parts(kSectionHiddenRescale)) {
    layer.hidden_rescale.multiplier = rows.take<int32_t>(hidden);
    layer.hidden_rescale.offset = rows.take<int32_t>(hidden);
  }

  const uint32_t bottleneck =
      stack.has_bottleneck() ? stack.bottleneck->kind : uint32_t{kBottleneckNone};
  layer.qkv = dense(parts(kSectionQkv), heads * qkv_parts(bottleneck) * columns,
                    reads_hidden(bottleneck) ? hidden : intra, {});
  layer.self = attention(kSectionScores, record.self);
  layer.self.query.multiplier = layer.qkv.factor.multiplier;
  layer.self.key.multiplier = layer.qkv.factor.multiplier + columns;
  layer.self.value.multiplier = layer.qkv.factor.multiplier + 2 * columns;
  layer.self.context =
      factor(parts(kSectionContext).take<int32_t>(heads * columns), record.self.context);
  layer.self.out = residual_dense(parts(kSectionAttnOut), intra, width, record.self.out);
  layer.self.out.adds_to_input = l == 0 && (config.flags & kStackEmbeddingNorm) != 0;
  const bool is_local = built(kStackLocalAttention) && stack.local_attention != nullptr &&
                        l % stack.local_attention->period != 0;
  layer.reach = is_local ? stack.local_attention->reach : SIZE_MAX;
  layer.rotary = layer_rotary(stack, is_local);
  if (Parts table = parts(kSectionRelativePositions)) {
    Parts ratios = parts(kSectionRelativeRatios);
    layer.relative_positions.table =
        table.take<int8_t>(table_columns * pad_inputs(config.head_size));
    layer.relative_positions.sums = table.take<int32_t>(table_columns);
    layer.relative_positions.query = factor(ratios.take<int32_t>(heads), record.query_relative);
    layer.relative_positions.key = factor(
        config.position_kind == kPositionRelativeKeyQuery ? ratios.take<int32_t>(heads) : nullptr,
        record.key_relative);
  }
  if (built(kStackScoreBias) && stack.score_bias != nullptr) {
    layer.relative_positions.bias = stack.score_bias;
    layer.relative_positions.query =
        factor(parts(kSectionRelativeRatios).take<int32_t>(heads), record.query_relative);
  }
  // The blob names a LayerNorm by the block before it, a Layer by the block that reads it.
  const Norm after_attn = norm(parts(kSectionNormAfterAttn), intra, record.norm_after_attn);

  if ((config.flags & kStackCrossAttention) == 0) {
    layer.ffn.norm = after_attn;
  } else {
    layer.cross_norm = after_attn;
    layer.ffn.norm = norm(parts(kSectionNormAfterCross), hidden, record.norm_after_cross);
    layer.cross_query =
        dense(parts(kSectionCrossQuery), heads * columns, hidden, record.cross.query);
    layer.cross_key_value = {
        dense(parts(kSectionCrossKeyValue), heads * 2 * columns, config.cross_hidden_size, {}),
        record.cross_join_shift};
    const int32_t* key_value = layer.cross_key_value.dense.factor.multiplier;
    layer.cross = attention(kSectionCrossScores, record.cross);
    layer.cross.query.multiplier = layer.cross_query.factor.multiplier;
    layer.cross.key.multiplier = key_value;
    layer.cross.value.multiplier = key_value + columns;
    layer.cross.context =
        factor(parts(kSectionCrossContext).take<int32_t>(heads * columns), record.cross.context);
    layer.cross.out = residual_dense(parts(kSectionCrossOut), hidden, width, record.cross.out);
  }

  FeedForward& ffn = layer.ffn;
  const size_t inner = record.intermediate_size;
  ffn.intermediate_size = inner;
  ffn.gate_shift = stack.gated_ffn != nullptr ? stack.gated_ffn[l].shift : -1;
  ffn.copied = layer_copied_inputs(stack, l);
  ffn.up = dense(parts(kSectionFfnUp), ffn.is_gated() ? 2 * pad_columns(inner) : inner,
                 intra + ffn.copied.count, record.ffn_up);
  ffn.activation = model_activation(config.activation, record.activation_exponent);
  ffn.first_columns = stack.planes != nullptr ? stack.planes[l].first_columns : 0;
  Parts down = parts(kSectionFfnDown);
  const size_t columns_of_down = ffn.has_column_groups() ? ffn.first_columns : inner;
  ffn.down = own_residual_dense(down, intra, columns_of_down, record.ffn_down);
  if (ffn.has_column_groups()) {
    ffn.down_second = own_residual_dense(down, intra, inner - ffn.first_columns, record.ffn_down);
  }
  if (stack.planes != nullptr) {
    const BlobPlanes& planes = stack.planes[l];
    layer.qkv_planes = BlobPlaneRows{planes.qkv};
    layer.self.out.planes = planes.attn_out != kPlanesNone;
    layer.self.probability_planes = planes.probabilities != kPlanesNone;
    layer.self.score_planes = planes.probabilities == kPlanesScores;
    ffn.up_planes = planes.ffn_up != kPlanesNone;
    ffn.down.planes = planes.ffn_down != kPlanesNone;
  }
  return layer;
}

LayerBottleneck model_bottleneck(const Model& model, const Stack& stack, size_t l) {
  const BlobStack& config = *stack.config;
  const size_t hidden = config.hidden_size, intra = stack.intra_size();
  Parts parts = Parts(model_optional_section(model, kSectionLayerBottleneck, l));
  const BlobLayerBottleneck& record = *parts.take<BlobLayerBottleneck>(1);
  LayerBottleneck out = {};
  out.input = own_residual_dense(parts, intra, hidden, record.input);
  if (stack.bottleneck->kind == kBottleneckShared) {
    const BlobLayer& layer = reinterpret_cast<const BlobLayer*>(
        model.blob + model.sections[stack.first_section].offset)[l];
    out.query_key = own_residual_dense(parts, intra, hidden, record.query_key);
    out.value =
        own_dense(parts, layer.num_heads * pad_columns(config.head_size), hidden, layer.self.value);
  }
  out.output = own_residual_dense(parts, hidden, intra, record.output);
  out.input_norm = own_norm(parts, intra, record.input_norm);
  out.query_key_norm = own_norm(parts, intra, record.query_key_norm);
  out.widening_norm = own_norm(parts, intra, record.widening_norm);
  return out;
}

FeedForward model_stacked_ffn(const Model& model, const Stack& stack, size_t l, size_t index) {
  const size_t intra = stack.intra_size(), count = stack.bottleneck->num_ffns - 1;
  Parts parts = Parts(model_optional_section(model, kSectionStackedFfn, l));
  const BlobStackedFfn* records = parts.take<BlobStackedFfn>(count);
  FeedForward out = {};
  for (size_t i = 0; i < count; ++i) {
    const BlobStackedFfn& record = records[i];
    const size_t inner = record.intermediate_size;
    const Dense up = own_dense(parts, inner, intra, record.up);
    const ResidualDense down = own_residual_dense(parts, intra, inner, record.down);
    if (i + 1 == index) {
      const Activation activation =
          model_activation(stack.config->activation, record.activation_exponent);
      out = {.norm = {},
             .intermediate_size = inner,
             .up = up,
             .gate_shift = -1,
             .activation = activation,
             .down = down};
    }
  }
  for (size_t i = 0; i < index; ++i) out.norm = own_norm(parts, intra, records[i].norm);
  return out;
}

HeadTransform model_pooler(const Model& model) {
  const size_t hidden = model_last_stack(model).config->hidden_size;
  HeadTransform head = {};
  head.dense = dense16(model, kSectionPooler, hidden, hidden, model.header->pooler);
  if (Parts parts = Parts(model_optional_section(model, kSectionPooledTransform))) {
    const BlobHeadTransform& record = *parts.take<BlobHeadTransform>(1);
    head.activation = model_activation(record.activation, record.exponent);
    head.norm = own_norm(parts, hidden, record.norm);
    head.factor = 1;
  } else {
    // tanh with scale 2^-12, times 7: that fills 16 bits and is exact to undo.
    head.activation = model_activation(kActivationTanh, 12);
    head.factor = 7;
  }
  return head;
}

bool pools_mean(const Model& model) {
  const uint8_t* section = model_optional_section(model, kSectionPooledTransform);
  return section != nullptr && reinterpret_cast<const BlobHeadTransform*>(section)->mean != 0;
}

HeadTransform model_token_transform(const Model& model) {
  const size_t hidden = model_last_stack(model).config->hidden_size;
  HeadTransform head = {};
  if (Parts parts = Parts(model_optional_section(model, kSectionTokenTransform))) {
    const BlobHeadTransform& record = *parts.take<BlobHeadTransform>(1);
    head.dense = {own_dense(parts, hidden, hidden, record.dense.shifts), record.dense.join_shift};
    head.activation = model_activation(record.activation, record.exponent);
    head.norm = own_norm(parts, hidden, record.norm);
    head.factor = 1;
  }
  return head;
}

Dense16 model_classifier(const Model& model) {
  return dense16(model, kSectionClassifier, model.header->num_labels,
                 model_last_stack(model).config->hidden_size, model.header->classifier);
}

Dense16 model_token_classifier(const Model& model) {
  return dense16(model, kSectionTokenClassifier, model.header->num_token_labels,
                 model_last_stack(model).config->hidden_size, model.header->token_classifier);
}

Dense16 model_projection(const Model& model) {
  return dense16(model, kSectionProjection, model_last_stack(model).config->cross_hidden_size,
                 model.header->stacks[0].hidden_size, model.header->projection);
}

LmHead model_lm(const Model& model) {
  const BlobHeader& header = *model.header;
  const Stack stack = model_last_stack(model);
  const size_t hidden = stack.config->hidden_size;
  LmHead head = {};
  head.size = stack.embedding_size;
  const auto* other = reinterpret_cast<const BlobLmActivation*>(
      model_optional_section(model, kSectionLmActivation));
  head.transform = {
      dense16(model, kSectionLmTransform, head.size, hidden, header.lm_transform),
      model_activation(other != nullptr ? other->activation : stack.config->activation,
                       header.lm_exponent),
      norm(Parts(model, section(model, kSectionLmNorm)), head.size, header.lm_norm), 1};
  const bool untied = (header.task_heads & kHeadLmUntied) != 0;
  const auto own = [&](BlobSectionKind kind) { return model_section(model, kind); };
  head.rows = untied ? reinterpret_cast<const int8_t*>(own(kSectionLmRows)) : stack.word_embeddings;
  head.multipliers = untied ? reinterpret_cast<const int32_t*>(own(kSectionLmMultipliers))
                            : stack.word_multipliers;
  head.bias = reinterpret_cast<const int32_t*>(own(kSectionLmBias));
  head.shift = header.lm_shift;
  return head;
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
