// SPDX-License-Identifier: Apache-2.0
#include "tests/support/synthetic_blob.hpp"

#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>

#include "kernels/layout.hpp"
#include "kernels/variants.hpp"

namespace embert::test {
namespace {

/// Sections one after another behind header and table, as FORMAT.md wants them.
class Writer {
 public:
  Writer(const SyntheticModel& model, std::uint32_t sections)
      : bytes_(sizeof(BlobHeader) + sections * sizeof(BlobSection)), random_(model.seed) {}

  template <typename T>
  void add(std::uint32_t kind, std::uint32_t layer, const std::vector<T>& values) {
    const std::size_t start = round_up(bytes_.size(), kBlobAlignment),
                      size = values.size() * sizeof(T);
    bytes_.resize(start + size);
    if (size > 0) std::memcpy(bytes_.data() + start, values.data(), size);
    const BlobSection section = {kind, layer, start, size};
    std::memcpy(bytes_.data() + sizeof(BlobHeader) + index_++ * sizeof(BlobSection), &section,
                sizeof(section));
  }
  template <typename T>
  std::vector<T> random(std::size_t count, std::int64_t lowest, std::int64_t highest) {
    std::uniform_int_distribution<std::int64_t> pick(lowest, highest);
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(pick(random_));
    return values;
  }
  /// n16k4 weights [n] x [k] with zero padding, and their column sums.
  std::vector<std::int8_t> weights(std::size_t n, std::size_t k, std::vector<std::int32_t>& sums) {
    const std::size_t inputs = pad_inputs(k);
    std::vector<std::int8_t> packed(pad_columns(n) * inputs, 0);
    sums.assign(pad_columns(n), 0);
    std::uniform_int_distribution<int> pick(-127, 127);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t c = 0; c < k; ++c) {
        const int value = pick(random_);
        packed[n16k4_index(j, c, inputs)] = static_cast<std::int8_t>(value);
        sums[j] += value;
      }
    }
    return packed;
  }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t index_ = 0;
  std::mt19937_64 random_;
};

struct Factor {
  std::int32_t multiplier;
  BlobShifts shifts;
};

/// A real factor as multiplier and shifts.
Factor encode(double factor) {
  int exponent = 0;
  const double mantissa = std::frexp(factor, &exponent);  // [0.5, 1)
  const auto multiplier =
      static_cast<std::int32_t>(std::min(mantissa * 2147483648.0, 2147483647.0));
  return {multiplier, {exponent > 0 ? exponent : 0, exponent > 0 ? 0 : -exponent}};
}

/// Standard deviation of a sum of k products of two uniform bytes, one of them 8 bits wide, the
/// other `width`.
double sum_spread(std::size_t k, double width) {
  return std::sqrt(static_cast<double>(k)) * 73.0 * width;
}

}  // namespace

AlignedBytes::AlignedBytes(std::size_t size)
    : storage_(new std::uint8_t[size + kBlobAlignment]), size_(size) {
  const auto address = reinterpret_cast<std::uintptr_t>(storage_.get());
  data_ = storage_.get() + (round_up(address, kBlobAlignment) - address);
}
AlignedBytes::AlignedBytes(const std::vector<std::uint8_t>& bytes) : AlignedBytes(bytes.size()) {
  if (!bytes.empty()) std::memcpy(data_, bytes.data(), bytes.size());
}

void seal_blob(std::uint8_t* blob, std::size_t size) {
  const std::uint32_t crc = crc32c_scalar(0, blob + kBlobCrcStart, size - kBlobCrcStart);
  std::memcpy(blob + offsetof(BlobHeader, crc32c), &crc, sizeof(crc));
}

std::vector<std::uint8_t> make_synthetic_blob(const SyntheticModel& m,
                                              const std::vector<std::uint8_t>& tokenizer) {
  const std::uint32_t sections =
      kSectionsBefore + m.num_layers * kSectionsPerLayer + kSectionsAfter;
  Writer out(m, sections);
  const std::size_t hidden = m.hidden_size, inner = m.intermediate_size,
                    head_columns = pad_columns(m.head_size);
  const std::size_t width = std::size_t{m.num_heads} * m.head_size;
  // A LayerNorm's rows spread over about 40 * 128 steps, so that the GEMM input spreads over
  // about 40.
  const BlobNorm norm = {static_cast<std::int64_t>(hidden * hidden), 17, 0};
  const auto gains = [&] { return out.random<std::int32_t>(hidden, 16 << 25, 24 << 25); };
  const auto norm_biases = [&] { return out.random<std::int32_t>(hidden, -(1 << 20), 1 << 20); };

  const Factor qkv = encode(40 / sum_spread(hidden, 40)),
               value = encode(8000 / sum_spread(hidden, 40));
  const Factor context = encode(0.5),
               output = encode(2000.0 * 32768 / 16000 / sum_spread(width, 60) * 8);
  const Factor ffn1 = encode(1500 / sum_spread(hidden, 40));
  const Factor ffn2 = encode(2000.0 * 32768 / 2000 / sum_spread(inner, 80) * 8);
  BlobLayer layer = {};
  layer.num_heads = m.num_heads;
  layer.intermediate_size = m.intermediate_size;
  layer.activation_exponent = 10;
  layer.query = layer.key = qkv.shifts;
  layer.value = value.shifts;
  layer.context = context.shifts;
  layer.output = output.shifts;
  layer.ffn1 = ffn1.shifts;
  layer.ffn2 = ffn2.shifts;
  layer.input_norm = layer.attention_norm = norm;

  std::vector<std::int32_t> sums;
  out.add(kSectionLayers, 0, std::vector<BlobLayer>(m.num_layers, layer));
  out.add(kSectionWordEmbeddings, 0, out.random<std::int8_t>(m.vocab_size * hidden, -127, 127));
  out.add(kSectionWordMultipliers, 0, out.random<std::int32_t>(m.vocab_size, 2000000, 4000000));
  out.add(kSectionPositions, 0, out.random<std::int16_t>(m.max_positions * hidden, -3000, 3000));
  auto segments = out.random<std::int16_t>(m.type_vocab_size * hidden, -1000, 1000);
  std::fill_n(segments.begin(), hidden, std::int16_t{0});
  out.add(kSectionSegments, 0, segments);
  for (std::uint32_t l = 0; l < m.num_layers; ++l) {
    out.add(kSectionInputNormGain, l, gains());
    out.add(kSectionInputNormBias, l, norm_biases());
    std::vector<std::int32_t> qkv_sums, multipliers;
    std::vector<std::int8_t> qkv_weights;
    for (std::uint32_t part = 0; part < 3 * m.num_heads; ++part) {
      const auto packed = out.weights(m.head_size, hidden, sums);
      qkv_weights.insert(qkv_weights.end(), packed.begin(), packed.end());
      qkv_sums.insert(qkv_sums.end(), sums.begin(), sums.end());
      multipliers.insert(multipliers.end(), head_columns,
                         part % 3 == 2 ? value.multiplier : qkv.multiplier);
    }
    out.add(kSectionQkvWeights, l, qkv_weights);
    out.add(kSectionQkvBias, l, out.random<std::int32_t>(qkv_sums.size(), -2000, 2000));
    out.add(kSectionQkvSums, l, qkv_sums);
    out.add(kSectionQkvMultipliers, l, multipliers);
    // A spread of scores of about 2 nats.
    const double score = 64 * 1.4427 * 2 / (1600 * std::sqrt(m.head_size));
    const auto score_multiplier = static_cast<std::uint32_t>(score * 4194304);
    const auto cap = static_cast<std::int32_t>((std::uint64_t{1153} << 21) / score_multiplier);
    out.add(kSectionScoreMultipliers, l, std::vector<std::uint32_t>(m.num_heads, score_multiplier));
    out.add(kSectionDistanceCaps, l, std::vector<std::int32_t>(m.num_heads, cap));
    out.add(kSectionContextMultipliers, l,
            std::vector<std::int32_t>(m.num_heads * head_columns, context.multiplier));
    const auto residual_dense = [&](std::uint32_t first, std::size_t k, const Factor& factor) {
      out.add(first, l, out.weights(hidden, k, sums));
      out.add(first + 1, l, sums);
      out.add(first + 2, l, std::vector<std::int32_t>(pad_columns(hidden), factor.multiplier));
      out.add(first + 3, l, out.random<std::int32_t>(pad_columns(hidden), 40000, 100000));
      out.add(first + 4, l, out.random<std::int32_t>(pad_columns(hidden), -5000, 5000));
    };
    residual_dense(kSectionOutputWeights, width, output);
    out.add(kSectionAttentionNormGain, l, gains());
    out.add(kSectionAttentionNormBias, l, norm_biases());
    out.add(kSectionFfn1Weights, l, out.weights(inner, hidden, sums));
    out.add(kSectionFfn1Bias, l, out.random<std::int32_t>(pad_columns(inner), -2000, 2000));
    out.add(kSectionFfn1Sums, l, sums);
    out.add(kSectionFfn1Multipliers, l,
            std::vector<std::int32_t>(pad_columns(inner), ffn1.multiplier));
    residual_dense(kSectionFfn2Weights, inner, ffn2);
  }
  out.add(kSectionOutputNormGain, 0, gains());
  out.add(kSectionOutputNormBias, 0, norm_biases());
  const Factor dense = encode(4096 / sum_spread(hidden, 3000));
  const auto head_dense = [&](std::uint32_t first, bool there, std::size_t n) {
    if (!there) n = 0;
    out.add(first, 0, there ? out.weights(n, hidden, sums) : std::vector<std::int8_t>());
    out.add(first + 1, 0, out.random<std::int32_t>(pad_columns(n), -1000, 1000));
    out.add(first + 2, 0, there ? sums : std::vector<std::int32_t>());
    out.add(first + 3, 0, std::vector<std::int32_t>(pad_columns(n), dense.multiplier));
  };
  head_dense(kSectionPoolerWeights, m.head >= kHeadPooler, hidden);
  head_dense(kSectionClassifierWeights, m.head == kHeadClassifier, m.num_labels);
  out.add(kSectionTokenizer, 0, tokenizer);
  std::string labels;
  for (std::uint32_t i = 0; m.head == kHeadClassifier && i < m.num_labels; ++i) {
    labels += "label" + std::to_string(i) + '\0';
  }
  out.add(kSectionLabels, 0, std::vector<char>(labels.begin(), labels.end()));
  out.add(kSectionCertificate, 0, std::vector<char>{'{', '}'});

  std::vector<std::uint8_t> blob = out.take();
  BlobHeader header = {};
  std::memcpy(header.magic, kBlobMagic, sizeof(kBlobMagic));
  header.version = kBlobVersion;
  header.blob_bytes = blob.size();
  header.layout = kLayoutN16K4;
  header.section_count = sections;
  header.hidden_size = m.hidden_size;
  header.num_layers = m.num_layers;
  header.num_heads = m.num_heads;
  header.head_size = m.head_size;
  header.intermediate_size = m.intermediate_size;
  header.vocab_size = m.vocab_size;
  header.max_positions = m.max_positions;
  header.type_vocab_size = m.type_vocab_size;
  header.max_tokens = m.max_positions;
  header.activation = m.activation;
  header.pooling = m.pooling;
  header.normalize = m.normalize;
  header.head = m.head;
  header.num_labels = m.head == kHeadClassifier ? m.num_labels : 0;
  header.hidden_scale = header.pooled_scale = header.logits_scale = (127u - 12u) << 23;
  header.output_norm = norm;
  header.pooler = {dense.shifts, 0, 0};
  header.classifier = {dense.shifts, 0, 0};
  std::memcpy(blob.data(), &header, sizeof(header));
  seal_blob(blob.data(), blob.size());
  return blob;
}

}  // namespace embert::test
