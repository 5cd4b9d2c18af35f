// SPDX-License-Identifier: Apache-2.0
// Written for little-endian machines, as the format is.
#include "converter/write_blob.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "converter/convert_error.hpp"
#include "kernels/pack.hpp"
#include "kernels/variants.hpp"

static_assert(std::endian::native == std::endian::little, "the blob is little-endian");

namespace embert::convert {
namespace {

bool is_weights(std::uint32_t kind) {
  return kind == kSectionQkvWeights || kind == kSectionOutputWeights ||
         kind == kSectionFfn1Weights || kind == kSectionFfn2Weights ||
         kind == kSectionPoolerWeights || kind == kSectionClassifierWeights;
}

bool is_embedding(std::uint32_t kind) {
  return kind == kSectionWordEmbeddings || kind == kSectionWordMultipliers ||
         kind == kSectionPositions || kind == kSectionSegments;
}

// Sections in the order of their calls, which is that of BlobSectionKind.
class SectionWriter {
 public:
  SectionWriter(std::size_t section_count, BlobSizes& sizes) : sizes_(sizes) {
    blob_.resize(sizeof(BlobHeader) + section_count * sizeof(BlobSection));
    sizes_.tables = blob_.size();
  }

  template <typename T>
  void add(std::uint32_t kind, std::size_t layer, std::span<const T> contents) {
    std::uint8_t* to = start(kind, layer, contents.size_bytes());
    if (!contents.empty()) std::memcpy(to, contents.data(), contents.size_bytes());
  }
  template <typename T>
  void add(std::uint32_t kind, std::size_t layer, const std::vector<T>& contents) {
    add(kind, layer, std::span<const T>(contents));
  }

  // Packed weights under `kind` and their sums under `sums_kind`, with `between` written between.
  template <typename Between>
  void add_dense(std::uint32_t kind, std::uint32_t sums_kind, std::size_t layer,
                 const QuantizedDense& dense, const Between& between) {
    std::uint8_t* to = start(kind, layer, dense.outputs * pad_inputs(dense.inputs));
    pack_n16k4(dense.weights.data(), dense.outputs, dense.inputs,
               reinterpret_cast<std::int8_t*>(to));
    between();
    std::vector<std::int32_t> sums(dense.outputs);
    column_sums(dense.weights.data(), dense.outputs, dense.inputs, sums.data());
    add(sums_kind, layer, sums);
  }

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
  std::uint8_t* start(std::uint32_t kind, std::size_t layer, std::size_t bytes) {
    const std::size_t offset = round_up(blob_.size(), kBlobAlignment);
    blob_.resize(offset + bytes);
    table_.push_back({kind, static_cast<std::uint32_t>(layer), offset, bytes});
    std::size_t& group = is_weights(kind)            ? sizes_.encoder_weights
                         : is_embedding(kind)        ? sizes_.embeddings
                         : kind == kSectionTokenizer ? sizes_.vocabulary
                                                     : sizes_.tables;
    group += bytes;
    return blob_.data() + offset;
  }

  BlobSizes& sizes_;
  std::vector<std::uint8_t> blob_;
  std::vector<BlobSection> table_;
};

void add_layer(SectionWriter& out, std::size_t l, const QuantizedLayer& layer) {
  out.add(kSectionInputNormGain, l, layer.input_norm.gain);
  out.add(kSectionInputNormBias, l, layer.input_norm.bias);
  out.add_dense(kSectionQkvWeights, kSectionQkvSums, l, layer.qkv,
                [&] { out.add(kSectionQkvBias, l, layer.qkv.bias); });
  out.add(kSectionQkvMultipliers, l, layer.qkv.multiplier);
  out.add(kSectionScoreMultipliers, l, layer.score_multipliers);
  out.add(kSectionDistanceCaps, l, layer.distance_caps);
  out.add(kSectionContextMultipliers, l, layer.context_multipliers);
  out.add_dense(kSectionOutputWeights, kSectionOutputSums, l, layer.output, [] {});
  out.add(kSectionOutputMultipliers, l, layer.output.multiplier);
  out.add(kSectionOutputResidual, l, layer.output.residual);
  out.add(kSectionOutputConstants, l, layer.output.constant);
  out.add(kSectionAttentionNormGain, l, layer.attention_norm.gain);
  out.add(kSectionAttentionNormBias, l, layer.attention_norm.bias);
  out.add_dense(kSectionFfn1Weights, kSectionFfn1Sums, l, layer.ffn1,
                [&] { out.add(kSectionFfn1Bias, l, layer.ffn1.bias); });
  out.add(kSectionFfn1Multipliers, l, layer.ffn1.multiplier);
  out.add_dense(kSectionFfn2Weights, kSectionFfn2Sums, l, layer.ffn2, [] {});
  out.add(kSectionFfn2Multipliers, l, layer.ffn2.multiplier);
  out.add(kSectionFfn2Residual, l, layer.ffn2.residual);
  out.add(kSectionFfn2Constants, l, layer.ffn2.constant);
}

// kinds: weights, bias, sums, multipliers, following each other.
void add_head(SectionWriter& out, std::uint32_t weights_kind,
              const std::optional<QuantizedHead>& head) {
  const QuantizedDense nothing;
  const QuantizedDense& dense = head ? head->dense : nothing;
  out.add_dense(weights_kind, weights_kind + 2, 0, dense,
                [&] { out.add(weights_kind + 1, 0, dense.bias); });
  out.add(weights_kind + 3, 0, dense.multiplier);
}

std::vector<std::uint8_t> label_bytes(const QuantizedModel& model, const BlobExtras& extras) {
  std::vector<std::uint8_t> bytes;
  if (!model.classifier) return bytes;
  if (extras.labels.size() != model.num_labels) {
    throw ConvertError("config.json: id2label has " + std::to_string(extras.labels.size()) +
                       " names, but the classifier has " + std::to_string(model.num_labels) +
                       " outputs");
  }
  for (const std::string& label : extras.labels) {
    if (label.find('\0') != std::string::npos) {
      throw ConvertError("config.json: id2label: a name with a zero byte: " + printable(label));
    }
    bytes.insert(bytes.end(), label.begin(), label.end());
    bytes.push_back(0);
  }
  return bytes;
}

BlobHeader make_header(const QuantizedModel& model, const BlobExtras& extras) {
  BlobHeader header{};
  std::copy(std::begin(kBlobMagic), std::end(kBlobMagic), header.magic);
  header.version = kBlobVersion;
  header.layout = kLayoutN16K4;
  header.hidden_size = model.hidden_size;
  header.num_layers = static_cast<std::uint32_t>(model.layers.size());
  for (const QuantizedLayer& layer : model.layers) {
    header.num_heads = std::max(header.num_heads, layer.numbers.num_heads);
    header.intermediate_size = std::max(header.intermediate_size, layer.numbers.intermediate_size);
  }
  header.head_size = model.head_size;
  header.vocab_size = model.vocab_size;
  header.max_positions = model.max_positions;
  header.type_vocab_size = model.type_vocab_size;
  header.max_tokens = extras.max_tokens;
  header.activation = model.activation;
  header.pooling = extras.pooling;
  header.normalize = extras.normalize ? 1 : 0;
  header.head = model.classifier ? kHeadClassifier : model.pooler ? kHeadPooler : kHeadNone;
  header.problem = model.problem;
  header.num_labels = model.num_labels;
  header.hidden_scale = std::bit_cast<std::uint32_t>(model.hidden_scale);
  header.pooled_scale = std::bit_cast<std::uint32_t>(model.pooled_scale);
  header.logits_scale = std::bit_cast<std::uint32_t>(model.logits_scale);
  header.output_norm = model.output_norm.numbers;
  if (model.pooler) header.pooler = model.pooler->numbers;
  if (model.classifier) header.classifier = model.classifier->numbers;
  return header;
}

}  // namespace

std::vector<std::uint8_t> write_blob(const QuantizedModel& model, const BlobExtras& extras,
                                     BlobSizes* sizes) {
  BlobSizes own;
  SectionWriter out(kSectionsBefore + model.layers.size() * kSectionsPerLayer + kSectionsAfter,
                    sizes != nullptr ? *sizes : own);
  std::vector<BlobLayer> numbers;
  for (const QuantizedLayer& layer : model.layers) numbers.push_back(layer.numbers);
  out.add(kSectionLayers, 0, numbers);
  out.add(kSectionWordEmbeddings, 0, model.word_embeddings);
  out.add(kSectionWordMultipliers, 0, model.word_multipliers);
  out.add(kSectionPositions, 0, model.positions);
  out.add(kSectionSegments, 0, model.segments);
  for (std::size_t l = 0; l < model.layers.size(); ++l) add_layer(out, l, model.layers[l]);
  out.add(kSectionOutputNormGain, 0, model.output_norm.gain);
  out.add(kSectionOutputNormBias, 0, model.output_norm.bias);
  add_head(out, kSectionPoolerWeights, model.pooler);
  add_head(out, kSectionClassifierWeights, model.classifier);
  out.add(kSectionTokenizer, 0, extras.tokenizer);
  out.add(kSectionLabels, 0, label_bytes(model, extras));
  out.add(kSectionCertificate, 0,
          std::span<const char>(extras.certificate.data(), extras.certificate.size()));
  return out.finish(make_header(model, extras));
}

}  // namespace embert::convert
