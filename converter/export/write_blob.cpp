// SPDX-License-Identifier: Apache-2.0
// Copies integers as they lie in memory: the format is little-endian, and so must be the machine.
#include "converter/export/write_blob.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "converter/convert_error.hpp"
#include "converter/export/section_parts.hpp"
#include "converter/export/write_optional.hpp"
#include "kernels/variants.hpp"

static_assert(std::endian::native == std::endian::little, "the blob is little-endian");

namespace embert::convert {
namespace {

bool is_weight_section(std::uint32_t kind) {
  switch (kind) {
    case kSectionQkv:
    case kSectionAttnOut:
    case kSectionCrossQuery:
    case kSectionCrossKeyValue:
    case kSectionCrossOut:
    case kSectionFfnUp:
    case kSectionFfnDown:
    case kSectionPooler:
    case kSectionClassifier:
    case kSectionTokenClassifier:
    case kSectionLmTransform:
    case kSectionLmRows:
    case kSectionProjection:
    case kSectionVector:
    case kSectionTokenTransform:
    case kSectionEmbeddingProjection:
    case kSectionLayerBottleneck:
    case kSectionStackedFfn:
    case kSectionWordProjection:
      return true;
    default:
      return false;
  }
}

bool is_embedding_section(std::uint32_t kind) {
  return kind == kSectionWordEmbeddings || kind == kSectionWordMultipliers ||
         kind == kSectionPositions || kind == kSectionSegments || kind == kSectionEmbeddings4Bit;
}

// Writes sections in the order of its calls, which is that of BlobSectionKind.
class SectionWriter {
 public:
  SectionWriter(std::size_t section_count, BlobSizes& sizes, RhsOrder weight_order)
      : sizes_(sizes), weight_order_(weight_order) {
    blob_.resize(sizeof(BlobHeader) + section_count * sizeof(BlobSection));
    sizes_.tables = blob_.size();
  }

  void enter(std::size_t stack, std::size_t layer) {
    stack_ = static_cast<std::uint16_t>(stack);
    layer_ = static_cast<std::uint32_t>(layer);
  }

  void start(std::uint32_t kind) {
    blob_.resize(round_up(blob_.size(), kBlobAlignment));
    table_.push_back({static_cast<std::uint16_t>(kind), stack_, layer_, blob_.size(), 0});
  }
  // Continues the section that was started last.
  template <typename T>
  void append(std::span<const T> part) {
    if (!part.empty()) std::memcpy(grow(part.size_bytes()), part.data(), part.size_bytes());
  }
  template <typename T>
  void append(const std::vector<T>& part) {
    append(std::span<const T>(part));
  }
  // A section of one vector, or of several one after another.
  template <typename... Parts>
  void add(std::uint32_t kind, const Parts&... parts) {
    start(kind);
    (append(parts), ...);
  }
  void add_dense(std::uint32_t kind, const QuantizedDense& dense) {
    add(kind, SectionParts{weight_order_}.dense(dense).bytes);
  }
  void add_dense(std::uint32_t kind, const std::optional<QuantizedDense16>& layer) {
    add_dense(kind, layer ? layer->dense : QuantizedDense());
  }
  void add_residual_dense(std::uint32_t kind, const QuantizedDense& dense) {
    add(kind, SectionParts{weight_order_}.residual_dense(dense).bytes);
  }
  // Two layers in one section.
  void add_residual_dense(std::uint32_t kind, const QuantizedDense& first,
                          const QuantizedDense& second) {
    add(kind, SectionParts{weight_order_}.residual_dense(first).residual_dense(second).bytes);
  }
  void add_norm(std::uint32_t kind, const QuantizedNorm& norm) { add(kind, norm.gain, norm.bias); }

  std::vector<std::uint8_t> finish(BlobHeader header) {
    header.section_count = static_cast<std::uint32_t>(table_.size());
    header.blob_bytes = blob_.size();
    std::memcpy(blob_.data(), &header, sizeof(header));
    std::memcpy(blob_.data() + sizeof(header), table_.data(), table_.size() * sizeof(BlobSection));
    header.crc32c = crc32c_scalar(0, blob_.data() + kBlobCrcStart, blob_.size() - kBlobCrcStart);
    std::memcpy(blob_.data(), &header, sizeof(header));
    return std::move(blob_);
  }

 private:
  std::uint8_t* grow(std::size_t bytes) {
    const std::uint32_t kind = table_.back().kind;
    std::size_t& group = is_weight_section(kind)      ? sizes_.encoder_weights
                         : is_embedding_section(kind) ? sizes_.embeddings
                         : kind == kSectionTokenizer  ? sizes_.vocabulary
                                                      : sizes_.tables;
    group += bytes;
    table_.back().bytes += bytes;
    blob_.resize(blob_.size() + bytes);
    return blob_.data() + blob_.size() - bytes;
  }

  BlobSizes& sizes_;
  RhsOrder weight_order_;
  std::vector<std::uint8_t> blob_;
  std::vector<BlobSection> table_;
  std::uint16_t stack_ = 0;
  std::uint32_t layer_ = 0;
};

// The blob names norms by where they stand: the first one after the attention block serves the
// cross-attention where there is one, else the feed-forward block.
struct StandingNorms {
  QuantizedNorm after_attn, after_cross;
};
StandingNorms standing_norms(const QuantizedLayer& layer) {
  if (layer.has_cross_attention()) {
    return {.after_attn = layer.cross_norm, .after_cross = layer.ffn_norm};
  }
  return {.after_attn = layer.ffn_norm, .after_cross = {}};
}

BlobLayer layer_record(const QuantizedLayer& layer) {
  const StandingNorms norms = standing_norms(layer);
  BlobLayer record = layer.record;
  record.norm_after_attn = norms.after_attn.record;
  record.norm_after_cross = norms.after_cross.record;
  return record;
}

// Everything of a layer but its input norm; without a layer empty sections.
void add_layer(SectionWriter& out, const QuantizedLayer& layer) {
  const StandingNorms norms = standing_norms(layer);
  out.add(kSectionHiddenRescale, layer.hidden_multiplier, layer.hidden_offset);
  out.add_dense(kSectionQkv, layer.qkv);
  out.add(kSectionScores, layer.self.score_multipliers, layer.self.score_caps);
  out.add(kSectionContext, layer.self.context_multipliers);
  const QuantizedRelativePositions relative =
      layer.relative_positions.value_or(QuantizedRelativePositions());
  out.add(
      kSectionRelativePositions,
      SectionParts()
          .packed({.codes = relative.table, .outputs = relative.columns, .inputs = relative.inputs})
          .bytes);
  out.add(kSectionRelativeRatios, relative.query_ratio, relative.key_ratio, layer.bias_ratio);
  out.add_residual_dense(kSectionAttnOut, layer.self.out);
  out.add_norm(kSectionNormAfterAttn, norms.after_attn);
  out.add_dense(kSectionCrossQuery, layer.cross_query);
  out.add_dense(kSectionCrossKeyValue, layer.cross_key_value);
  out.add(kSectionCrossScores, layer.cross.score_multipliers, layer.cross.score_caps);
  out.add(kSectionCrossContext, layer.cross.context_multipliers);
  out.add_residual_dense(kSectionCrossOut, layer.cross.out);
  out.add_norm(kSectionNormAfterCross, norms.after_cross);
  out.add_dense(kSectionFfnUp, layer.ffn_up);
  out.add_residual_dense(kSectionFfnDown, layer.ffn_down, layer.ffn_down_second);
}

void add_stack(SectionWriter& out, std::size_t index, const QuantizedStack& stack) {
  // The layers with sections of their own come in the order of `layers`.
  std::vector<BlobLayer> records;
  std::vector<const QuantizedLayer*> own;
  const QuantizedLayer none;
  for (std::size_t l = 0, next = 0; l < stack.input_norms.size(); ++l) {
    const bool has_own = stack.shared.empty() || stack.shared[l].layer == l;
    own.push_back(has_own ? &stack.layers[next++] : &none);
    records.push_back(layer_record(*own[l]));
    records[l].input_norm = stack.input_norms[l].record;
  }
  out.enter(index, 0);
  out.add(kSectionLayers, records);
  out.add(kSectionWordEmbeddings, stack.word_embeddings);
  out.add(kSectionWordMultipliers, stack.word_multipliers);
  out.add(kSectionPositions, stack.positions);
  out.add(kSectionSegments, stack.segments);
  for (std::size_t l = 0; l < own.size(); ++l) {
    out.enter(index, l);
    out.add_norm(kSectionInputNorm, stack.input_norms[l]);
    add_layer(out, *own[l]);
  }
  out.enter(index, 0);
  out.add_norm(kSectionFinalNorm, stack.final_norm);
}

std::vector<std::uint8_t> label_bytes(std::uint32_t outputs,
                                      const std::vector<std::string>& labels) {
  std::vector<std::uint8_t> bytes;
  if (labels.size() != outputs) {
    throw ConvertError("config.json: id2label has " + std::to_string(labels.size()) +
                       " names, but the classifier has " + std::to_string(outputs) + " outputs");
  }
  for (const std::string& label : labels) {
    if (label.find('\0') != std::string::npos) {
      throw ConvertError("config.json: id2label: a name with a zero byte: " + printable(label));
    }
    bytes.insert(bytes.end(), label.begin(), label.end());
    bytes.push_back(0);
  }
  return bytes;
}

BlobStack complete_record(const QuantizedStack& stack) {
  BlobStack record = stack.record;
  record.num_layers = static_cast<std::uint32_t>(stack.input_norms.size());
  for (const QuantizedLayer& layer : stack.layers) {
    record.num_heads = std::max(record.num_heads, layer.record.num_heads);
    record.intermediate_size = std::max(record.intermediate_size, layer.record.intermediate_size);
    for (const QuantizedStackedFfn& ffn : layer.stacked) {
      record.intermediate_size = std::max(record.intermediate_size, ffn.record.intermediate_size);
    }
  }
  record.final_norm = stack.final_norm.record;
  return record;
}

BlobHeader make_header(const QuantizedModel& model, const BlobExtras& extras) {
  BlobHeader header{};
  std::copy(std::begin(kBlobMagic), std::end(kBlobMagic), header.magic);
  header.version = kBlobVersion;
  header.layout = extras.weight_order == RhsOrder::kN8K16 ? kLayoutN8K16 : kLayoutN16K4;
  header.num_stacks = static_cast<std::uint32_t>(model.stacks.size());
  for (std::size_t i = 0; i < model.stacks.size(); ++i) {
    header.stacks[i] = complete_record(model.stacks[i]);
  }
  header.max_tokens = extras.max_tokens;
  header.pooling = extras.pooling;
  header.normalize = extras.normalize ? 1 : 0;
  header.classifier_task = model.classifier_task;
  header.problem = model.problem;
  header.num_labels = model.num_labels;
  header.token_task = model.token_task;
  header.num_token_labels = model.num_token_labels;
  header.start_id = model.start_id;
  header.end_id = model.end_id;
  header.pooled_scale = std::bit_cast<std::uint32_t>(model.pooled_scale);
  header.logits_scale = std::bit_cast<std::uint32_t>(model.logits_scale);
  header.token_logits_scale = std::bit_cast<std::uint32_t>(model.token_logits_scale);
  const auto add_dense16 = [&](std::uint32_t bit, const std::optional<QuantizedDense16>& layer,
                               BlobDense16& record) {
    if (!layer) return;
    header.task_heads |= bit;
    record = layer->record;
  };
  header.task_heads |= section_bits(model);
  if (model.pooled_as_is) header.task_heads |= kHeadPooler | kHeadPooledAsIs;
  if (model.pooler) {
    header.task_heads |= kHeadPooler;
    header.pooler = model.pooler->dense.record;
  }
  add_dense16(kHeadClassifier, model.classifier, header.classifier);
  add_dense16(kHeadTokenClassifier, model.token_classifier, header.token_classifier);
  add_dense16(kHeadProjection, model.projection, header.projection);
  if (model.lm) {
    header.task_heads |= kHeadLm;
    if (!model.lm->rows.empty()) header.task_heads |= kHeadLmUntied;
    if (const auto& transform = model.lm->transform) {
      header.task_heads |= kHeadLmTransform;
      header.lm_transform = transform->dense.record;
      header.lm_norm = transform->norm.record;
      header.lm_exponent = transform->exponent;
    }
    header.lm_shift = model.lm->shift;
    header.lm_logits_scale = std::bit_cast<std::uint32_t>(model.lm->logits_scale);
  }
  if (model.vector) header.task_heads |= kHeadVector;
  return header;
}

}  // namespace

std::vector<std::uint8_t> write_blob(const QuantizedModel& model, const BlobExtras& extras,
                                     BlobSizes* sizes) {
  BlobSizes own;
  const std::vector<OptionalSection> optional =
      optional_sections(model, extras.prompts, extras.weight_order);
  std::size_t sections = kSectionsOfModel + optional.size();
  for (const QuantizedStack& stack : model.stacks) {
    sections += stack_sections(static_cast<std::uint32_t>(stack.input_norms.size()));
  }
  SectionWriter out(sections, sizes != nullptr ? *sizes : own, extras.weight_order);
  for (std::size_t i = 0; i < model.stacks.size(); ++i) add_stack(out, i, model.stacks[i]);
  const QuantizedLm lm = model.lm.value_or(QuantizedLm());
  out.enter(0, 0);
  const auto transform_dense = [](const std::optional<QuantizedTransform>& transform) {
    return transform ? transform->dense.dense : QuantizedDense();
  };
  out.add_dense(kSectionPooler, transform_dense(model.pooler));
  out.add_dense(kSectionClassifier, model.classifier);
  out.add_dense(kSectionTokenClassifier, model.token_classifier);
  out.add_dense(kSectionLmTransform, transform_dense(lm.transform));
  out.add_norm(kSectionLmNorm, lm.transform ? lm.transform->norm : QuantizedNorm());
  out.add(kSectionLmRows, lm.rows);
  out.add(kSectionLmMultipliers, lm.multipliers);
  out.add(kSectionLmBias, lm.bias);
  out.add_dense(kSectionProjection, model.projection);
  out.add(kSectionTokenizer, extras.tokenizer);
  out.add(kSectionLabels, label_bytes(model.num_labels, extras.labels));
  out.add(kSectionTokenLabels, label_bytes(model.num_token_labels, extras.token_labels));
  out.add(kSectionCertificate,
          std::span<const char>(extras.certificate.data(), extras.certificate.size()));
  out.add(kSectionSelftest, extras.selftest);
  for (const OptionalSection& section : optional) {
    out.enter(0, section.layer);
    out.add(section.kind, section.bytes);
  }
  return out.finish(make_header(model, extras));
}

}  // namespace embert::convert
