// SPDX-License-Identifier: Apache-2.0
#include "converter/export/write_optional.hpp"

#include <iterator>
#include <string>

#include "converter/export/section_parts.hpp"

namespace embert::convert {
namespace {

std::vector<std::uint8_t> prompt_bytes(const PromptConfig& prompts) {
  const auto position = [&](const std::string& name) {
    return std::distance(prompts.texts.begin(), prompts.texts.find(name));
  };
  SectionParts out;
  out.record(BlobPrompts{
      .count = static_cast<std::uint32_t>(prompts.texts.size()),
      .default_prompt = prompts.default_name
                            ? static_cast<std::uint32_t>(position(*prompts.default_name))
                            : UINT32_MAX});
  for (const auto& [name, text] : prompts.texts) {
    for (const std::string& string : {name, text}) {
      out.array(std::vector<char>(string.begin(), string.end())).record('\0');
    }
  }
  return out.bytes;
}

BlobHeadTransform transform_record(const QuantizedTransform& transform) {
  BlobHeadTransform record{};
  record.norm = transform.norm.record;
  record.activation = transform.activation;
  record.exponent = transform.exponent;
  return record;
}

std::vector<std::uint8_t> pooled_bytes(const QuantizedModel& model) {
  BlobHeadTransform record = transform_record(*model.pooler);
  record.mean = model.pooled_mean ? 1 : 0;
  return SectionParts().record(record).norm(model.pooler->norm).bytes;
}

std::vector<std::uint8_t> token_transform_bytes(const QuantizedTransform& transform,
                                                RhsOrder order) {
  BlobHeadTransform record = transform_record(transform);
  record.dense = transform.dense.record;
  return SectionParts{order}.record(record).dense(transform.dense.dense).norm(transform.norm).bytes;
}

std::vector<std::uint8_t> vector_bytes(const QuantizedVector& vector, RhsOrder order) {
  SectionParts out{order};
  out.record(vector.record);
  for (const QuantizedDense& layer : vector.dense) out.dense(layer);
  return out.bytes;
}

std::vector<std::uint8_t> bottleneck_bytes(const QuantizedBottleneck& bottleneck, RhsOrder order) {
  BlobLayerBottleneck record = bottleneck.record;
  record.input_norm = bottleneck.input_norm.record;
  record.query_key_norm = bottleneck.query_key_norm.record;
  record.widening_norm = bottleneck.widening_norm.record;
  return SectionParts{order}
      .record(record)
      .residual_dense(bottleneck.input)
      .residual_dense(bottleneck.query_key)
      .dense(bottleneck.value)
      .residual_dense(bottleneck.output)
      .norm(bottleneck.input_norm)
      .norm(bottleneck.query_key_norm)
      .norm(bottleneck.widening_norm)
      .bytes;
}

std::vector<std::uint8_t> stacked_bytes(const std::vector<QuantizedStackedFfn>& ffns,
                                        RhsOrder order) {
  SectionParts out{order};
  for (const QuantizedStackedFfn& ffn : ffns) {
    BlobStackedFfn record = ffn.record;
    record.norm = ffn.norm.record;
    out.record(record);
  }
  for (const QuantizedStackedFfn& ffn : ffns) out.dense(ffn.up).residual_dense(ffn.down);
  for (const QuantizedStackedFfn& ffn : ffns) out.norm(ffn.norm);
  return out.bytes;
}

// The sections that each layer of a stack with bottlenecks has.
void add_layer_sections(const QuantizedStack& stack, RhsOrder order,
                        std::vector<OptionalSection>& out) {
  const auto add = [&](std::uint32_t kind, const auto& bytes_of) {
    for (std::uint32_t l = 0; l < stack.layers.size(); ++l) {
      out.push_back({.kind = kind, .layer = l, .bytes = bytes_of(stack.layers[l])});
    }
  };
  if (stack.bottleneck->kind != kBottleneckNone) {
    add(kSectionLayerBottleneck, [order](const QuantizedLayer& layer) {
      return bottleneck_bytes(*layer.bottleneck, order);
    });
  }
  if (stack.bottleneck->num_ffns > 1) {
    add(kSectionStackedFfn,
        [order](const QuantizedLayer& layer) { return stacked_bytes(layer.stacked, order); });
  }
}

void add_stack_options(const QuantizedStack& stack, RhsOrder order,
                       std::vector<OptionalSection>& out) {
  const auto add = [&](std::uint32_t kind, std::vector<std::uint8_t> bytes) {
    out.push_back({.kind = kind, .layer = 0, .bytes = std::move(bytes)});
  };
  if (const auto& projection = stack.projection) {
    const BlobEmbeddingProjection record{
        .embedding_size = static_cast<std::uint32_t>(projection->dense.dense.inputs),
        .reserved = 0,
        .norm = projection->norm.record,
        .dense = projection->dense.record,
        .padding = {}};
    add(kSectionEmbeddingProjection, SectionParts{order}
                                         .record(record)
                                         .dense(projection->dense.dense)
                                         .norm(projection->norm)
                                         .bytes);
  }
  if (!stack.shared.empty()) add(kSectionSharedLayers, SectionParts().array(stack.shared).bytes);
  if (const auto& bottleneck = stack.bottleneck) {
    add(kSectionBottleneck, SectionParts().record(*bottleneck).bytes);
    add_layer_sections(stack, order, out);
  }
  if (const auto& projection = stack.word_projection) {
    add(kSectionWordProjection,
        SectionParts{order}.record(projection->record).dense(projection->dense).bytes);
  }
  if (const auto& rotary = stack.rotary) {
    add(kSectionRotary, SectionParts()
                            .record(rotary->record)
                            .array(rotary->multipliers)
                            .array(rotary->angles)
                            .bytes);
  }
  if (const auto& local = stack.local_attention) {
    add(kSectionLocalAttention, SectionParts().record(*local).bytes);
  }
  if (!stack.gated_ffn.empty()) add(kSectionGatedFfn, SectionParts().array(stack.gated_ffn).bytes);
  if (const auto& table = stack.static_embeddings) {
    add(kSectionStatic, SectionParts().record(*table).bytes);
  }
  if (const auto& table = stack.embeddings_4bit) {
    add(kSectionEmbeddings4Bit, SectionParts().record(table->record).array(table->rows).bytes);
  }
  if (!stack.planes.empty()) {
    add(kSectionPlanes, SectionParts().array(stack.planes).array(stack.copied_inputs).bytes);
  }
}

}  // namespace

std::vector<OptionalSection> optional_sections(const QuantizedModel& model,
                                               const PromptConfig& prompts, RhsOrder order) {
  std::vector<OptionalSection> out;
  const auto add = [&](std::uint32_t kind, std::vector<std::uint8_t> bytes) {
    out.push_back({.kind = kind, .layer = 0, .bytes = std::move(bytes)});
  };
  if (!prompts.texts.empty()) add(kSectionPrompts, prompt_bytes(prompts));
  const QuantizedStack& stack = model.stacks.front();  // options of pairs have no section
  if ((stack.record.flags & kStackPaddingPosition) != 0) {
    const BlobPaddingPosition record{.padding_id = stack.padding_id, .reserved = 0};
    add(kSectionPaddingPosition, SectionParts().record(record).bytes);
  }
  if ((stack.record.flags & kStackScoreBias) != 0) {
    add(kSectionScoreBias, SectionParts().array(stack.score_bias).bytes);
  }
  add_stack_options(stack, order, out);
  const std::uint32_t heads = section_bits(model);
  if ((heads & kHeadPooledTransform) != 0) add(kSectionPooledTransform, pooled_bytes(model));
  if ((heads & kHeadTokenTransform) != 0) {
    add(kSectionTokenTransform, token_transform_bytes(*model.token_transform, order));
  }
  if ((heads & kHeadLmActivation) != 0) {
    const BlobLmActivation record{.activation = model.lm->transform->activation, .reserved = 0};
    add(kSectionLmActivation, SectionParts().record(record).bytes);
  }
  if (model.vector) add(kSectionVector, vector_bytes(*model.vector, order));
  return out;
}

std::uint32_t section_bits(const QuantizedModel& model) {
  std::uint32_t bits = 0;
  if (model.pooler && model.pooler->exponent > 0) bits |= kHeadPooledTransform;
  if (model.token_transform) bits |= kHeadTokenTransform;
  if (model.lm && model.lm->own_activation) bits |= kHeadLmActivation;
  return bits;
}

}  // namespace embert::convert
