// SPDX-License-Identifier: Apache-2.0
#include "tests/support/synthetic_blob.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>

#include "kernels/arithmetic/layout.hpp"
#include "kernels/arithmetic/word_4bit.hpp"
#include "kernels/variants.hpp"
#include "tests/support/synthetic_writer.hpp"

namespace embert::test {
namespace {

/// Width of the embeddings.
std::size_t embedding_size(const SyntheticModel& m) {
  return (m.flags & kStackEmbeddingProjection) != 0 ? m.embedding_size : m.hidden_size;
}

/// Writes one stack's sections and its record in the header.
class StackWriter {
 public:
  StackWriter(Writer& out, const SyntheticModel& model)
      : out_(out),
        m_(model),
        hidden_(model.hidden_size),
        embeddings_(embedding_size(model)),
        intra_((model.flags & kStackBottleneck) != 0 ? model.bottleneck.intra_size
                                                     : model.hidden_size),
        states_(model.cross_hidden_size != 0 ? model.cross_hidden_size : model.hidden_size),
        columns_(pad_columns(model.head_size)) {}

  /// The standard deviation of a LayerNorm's 16-bit output is about 40 * 128, that of the 8-bit
  /// GEMM input about 40.
  BlobNorm norm() const { return {static_cast<std::int64_t>(hidden_ * hidden_), 17, 0}; }
  void add_norm(std::uint32_t kind) { add_norm(kind, hidden_); }
  void add_norm(std::uint32_t kind, std::size_t size) {
    // Two statements: the compiler may evaluate arguments in any order.
    const auto gain = out_.random<std::int32_t>(size, 16 << 25, 24 << 25);
    const auto bias = out_.random<std::int32_t>(size, -(1 << 20), 1 << 20);
    out_.add(kind, gain, bias);
  }
  /// Of the stack's own norms.
  void add_layer_norm(std::uint32_t kind, std::size_t size) {
    if (m_.layer_norms) {
      add_norm(kind, size);
    } else {
      out_.add(kind);
    }
  }
  BlobNorm layer_norm() const { return m_.layer_norms ? norm() : BlobNorm{}; }

  void write(std::uint32_t index) {
    out_.enter(index, 0);
    std::vector<BlobLayer> layers(m_.num_layers, layer());
    const bool projected = has(kStackEmbeddingProjection);
    if ((projected || !m_.embedding_norm) && !has(kStackPreNorm)) layers[0].input_norm = {};
    layers.back().num_heads -= m_.pruned_heads;
    for (std::uint32_t l = 0; l < m_.num_layers; ++l) {
      if (!is_own(l)) layers[l] = {};
      if (!is_own(l) && m_.shared[l].input_norm == l) layers[l].input_norm = norm();
      if (is_own(l) && !m_.shared.empty() && m_.shared[l].input_norm != l) {
        layers[l].input_norm = {};
      }
    }
    out_.add(kSectionLayers, layers);
    const std::size_t word_size = has(kStackWordProjection) ? m_.word_size : embeddings_;
    if (has(kStackEmbeddings4Bit)) {
      out_.add(kSectionWordEmbeddings, std::vector<std::int8_t>());
      out_.add(kSectionWordMultipliers, out_.random<std::int32_t>(m_.vocab_size, 20000, 40000));
    } else {
      out_.add(kSectionWordEmbeddings,
               out_.random<std::int8_t>(m_.vocab_size * word_size, -127, 127));
      out_.add(kSectionWordMultipliers, out_.random<std::int32_t>(m_.vocab_size, 2000000, 4000000));
    }
    const std::size_t position_rows =
        has(kStackRotary) ? 1 : m_.max_positions + (has(kStackPaddingPosition) ? 1 : 0);
    out_.add(kSectionPositions,
             out_.random<std::int16_t>(position_rows * embeddings_, -3000, 3000));
    auto segments = out_.random<std::int16_t>(m_.type_vocab_size * embeddings_, -1000, 1000);
    std::fill_n(segments.begin(), embeddings_, std::int16_t{0});
    out_.add(kSectionSegments, segments);
    for (std::uint32_t l = 0; l < m_.num_layers; ++l) {
      out_.enter(index, l);
      if (is_own(l)) {
        write_layer(layers[l], l == 0);
      } else {
        write_shared_layer(layers[l]);
      }
    }
    out_.enter(index, 0);
    add_layer_norm(kSectionFinalNorm, hidden_);
  }

  BlobStack record() const {
    BlobStack s = {};
    s.flags = m_.flags;
    s.hidden_size = m_.hidden_size;
    s.num_layers = m_.num_layers;
    s.num_heads = m_.num_heads;
    s.head_size = m_.head_size;
    s.intermediate_size = m_.intermediate_size;
    s.vocab_size = m_.vocab_size;
    s.max_positions = m_.max_positions;
    s.type_vocab_size = m_.type_vocab_size;
    s.activation = m_.activation;
    s.position_kind = m_.position_kind;
    s.cross_hidden_size = has(kStackCrossAttention) ? static_cast<std::uint32_t>(states_) : 0;
    s.embedding_scale = s.cross_scale = s.hidden_scale = s.sum_scale = kScale;
    s.final_norm = layer_norm();
    return s;
  }
  static constexpr std::uint32_t kScale = (127u - 12u) << 23;

 private:
  bool has(std::uint32_t flag) const { return (m_.flags & flag) != 0; }
  /// Whether a layer has sections of its own.
  bool is_own(std::uint32_t layer) const {
    return m_.shared.empty() || m_.shared[layer].layer == layer;
  }

  BlobLayer layer() const {
    BlobLayer l = {};
    l.num_heads = m_.num_heads;
    l.intermediate_size = m_.intermediate_size;
    l.activation_exponent = 10;
    l.hidden_scale = kScale;
    const BlobShifts query_or_key = has(kStackRotary) ? turned_.shifts : qkv_.shifts;
    l.self = {query_or_key, query_or_key, value_.shifts, context_.shifts, output_.shifts};
    if (has(kStackCrossAttention)) {
      l.cross = {qkv_.shifts, cross_key_.shifts, cross_value_.shifts, context_.shifts,
                 output_.shifts};
      l.norm_after_cross = norm();
    }
    if (m_.position_kind != kPositionTable || has(kStackScoreBias))
      l.query_relative = ratio_.shifts;
    if (m_.position_kind == kPositionRelativeKeyQuery) l.key_relative = ratio_.shifts;
    l.ffn_up = ffn_up_.shifts;
    l.ffn_down = ffn_down_.shifts;
    l.input_norm = l.norm_after_attn = layer_norm();
    return l;
  }

  /// For each head the columns of its parts (such as query, key and value); one factor for each
  /// part.
  void add_heads(std::uint32_t kind, std::uint32_t heads, std::size_t inputs,
                 const std::vector<Factor>& factors) {
    std::vector<std::int8_t> weights;
    std::vector<std::int32_t> sums, all_sums, multipliers;
    for (std::uint32_t head = 0; head < heads; ++head) {
      for (const Factor& factor : factors) {
        const auto packed = out_.weights(m_.head_size, inputs, sums);
        weights.insert(weights.end(), packed.begin(), packed.end());
        all_sums.insert(all_sums.end(), sums.begin(), sums.end());
        multipliers.insert(multipliers.end(), columns_, factor.multiplier);
      }
    }
    out_.add(kind, weights, out_.random<std::int32_t>(all_sums.size(), -2000, 2000), all_sums,
             multipliers);
  }
  void add_attention(std::uint32_t scores_kind, std::uint32_t context_kind, std::uint32_t heads) {
    // A spread of scores of about 2 nats.
    const double score = 64 * 1.4427 * 2 / (1600 * std::sqrt(m_.head_size));
    const auto multiplier = static_cast<std::uint32_t>(score * 4194304);
    const auto cap = static_cast<std::int32_t>((std::uint64_t{1153} << 21) / multiplier);
    out_.add(scores_kind, std::vector<std::uint32_t>(heads, multiplier),
             std::vector<std::int32_t>(heads, cap));
    out_.add(context_kind, std::vector<std::int32_t>(heads * columns_, context_.multiplier));
  }
  void add_residual_dense(std::uint32_t kind, std::size_t k, const Factor& factor) {
    add_residual_dense(kind, k, factor, !has(kStackPreNorm));
  }
  void add_residual_dense(std::uint32_t kind, std::size_t k, const Factor& factor,
                          bool adds_to_input) {
    out_.start(kind);
    append_residual_dense(k, factor, adds_to_input);
  }
  void append_residual_dense(std::size_t k, const Factor& factor, bool adds_to_input) {
    std::vector<std::int32_t> sums;
    const auto packed = out_.weights(intra_, k, sums);
    const std::size_t n = pad_columns(intra_);
    // In post-norm the residual is a LayerNorm's output, rescaled to the sum's scale; in pre-norm
    // it is the last sum, whose scale is the same.
    const std::int32_t carried = 16 << 16;
    const auto residual = adds_to_input ? out_.random<std::int32_t>(n, 40000, 100000)
                                        : std::vector<std::int32_t>(n, carried);
    const auto constants = out_.random<std::int32_t>(n, -5000, 5000);
    out_.append(packed);
    out_.append(sums);
    out_.append(std::vector<std::int32_t>(n, factor.multiplier));
    out_.append(residual);
    out_.append(constants);
  }

  void write_shared_layer(const BlobLayer& record) {
    if (record.input_norm.shift != 0) {
      add_norm(kSectionInputNorm);
    } else {
      out_.add(kSectionInputNorm);
    }
    for (std::uint32_t kind = kSectionHiddenRescale; kind <= kSectionFfnDown; ++kind) {
      out_.add(kind);
    }
  }

  void write_layer(const BlobLayer& record, bool is_first) {
    std::vector<std::int32_t> sums;
    const std::uint32_t heads = record.num_heads;
    const std::size_t width = std::size_t{heads} * m_.head_size;
    const bool input_norm = record.input_norm.shift != 0;
    if (input_norm) {
      add_norm(kSectionInputNorm);
    } else {
      out_.add(kSectionInputNorm);
    }
    const bool adds_to_input = !has(kStackPreNorm) || (is_first && has(kStackEmbeddingNorm));
    const bool projected = has(kStackEmbeddingProjection);
    const bool rescaled =
        m_.layer_norms ? input_norm || projected : !is_first || has(kStackWordProjection);
    if (rescaled && adds_to_input) {
      out_.add(kSectionHiddenRescale, std::vector<std::int32_t>(hidden_, 50000),
               std::vector<std::int32_t>(hidden_, 1 << 20));
    } else {
      out_.add(kSectionHiddenRescale);
    }
    const Factor& query_or_key = has(kStackRotary) ? turned_ : qkv_;
    const std::uint32_t kind = has(kStackBottleneck) ? m_.bottleneck.kind : kBottleneckNone;
    const bool reads_hidden = kind == kBottleneckNone || kind == kBottleneckOutput;
    std::vector<Factor> parts = {query_or_key, query_or_key, value_};
    if (kind == kBottleneckShared) parts.pop_back();
    add_heads(kSectionQkv, heads, reads_hidden ? hidden_ : intra_, parts);
    add_attention(kSectionScores, kSectionContext, heads);
    out_.start(kSectionRelativePositions);
    if (m_.position_kind != kPositionTable) {
      out_.append(out_.packed(RhsOrder::kN16K4, 2 * m_.max_positions - 1, m_.head_size, sums));
      out_.append(sums);
    }
    out_.add(kSectionRelativeRatios,
             std::vector<std::int32_t>((has(kStackScoreBias) ? 1 : m_.position_kind) * heads,
                                       ratio_.multiplier));
    add_residual_dense(kSectionAttnOut, width, output_, adds_to_input);
    add_layer_norm(kSectionNormAfterAttn, intra_);
    if (has(kStackCrossAttention)) {
      add_heads(kSectionCrossQuery, heads, hidden_, {qkv_});
      add_heads(kSectionCrossKeyValue, heads, states_, {cross_key_, cross_value_});
      add_attention(kSectionCrossScores, kSectionCrossContext, heads);
      add_residual_dense(kSectionCrossOut, width, output_);
      add_norm(kSectionNormAfterCross);
    } else {
      for (std::uint32_t k = kSectionCrossQuery; k <= kSectionNormAfterCross; ++k) out_.add(k);
    }
    const std::size_t inner = m_.intermediate_size;
    const std::size_t copied = has(kStackPlanes) ? m_.planes.copied_inputs : 0;
    auto packed = out_.weights(inner, intra_ + copied, sums);
    if (has(kStackGatedFfn)) {
      std::vector<std::int32_t> gate_sums;
      const auto gate = out_.weights(inner, intra_ + copied, gate_sums);
      packed.insert(packed.end(), gate.begin(), gate.end());
      sums.insert(sums.end(), gate_sums.begin(), gate_sums.end());
    }
    out_.add(kSectionFfnUp, packed, out_.random<std::int32_t>(sums.size(), -2000, 2000), sums,
             std::vector<std::int32_t>(sums.size(), ffn_up_.multiplier));
    const std::size_t first = has(kStackPlanes) ? m_.planes.first_columns : 0;
    add_residual_dense(kSectionFfnDown, first > 0 ? first : inner, ffn_down_);
    if (first > 0) append_residual_dense(inner - first, ffn_down_, /*adds_to_input=*/false);
  }

  Writer& out_;
  const SyntheticModel& m_;
  std::size_t hidden_, embeddings_, intra_, states_, columns_;
  const Factor qkv_ = encode(40 / sum_spread(hidden_, 40)),
               // to 16 bits, with room for a turn
      turned_ = encode(25 * 128 / sum_spread(hidden_, 40)),
               value_ = encode(8000 / sum_spread(hidden_, 40)),
               // an encoder's states are 16-bit rows: 128 times the 8-bit input
      cross_key_ = encode(40 / sum_spread(states_, 40 * 128)),
               cross_value_ = encode(8000 / sum_spread(states_, 40 * 128)), context_ = encode(0.5),
               ratio_ = encode(0.5),
               output_ =
                   encode(2000.0 * 32768 / 16000 / sum_spread(m_.num_heads * m_.head_size, 60) * 8),
               ffn_up_ = encode(1500 / sum_spread(hidden_, 40)),
               ffn_down_ = encode(2000.0 * 32768 / 2000 / sum_spread(m_.intermediate_size, 80) * 8);
};

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

SyntheticSection prompts_section(std::uint32_t count, std::uint32_t default_prompt,
                                 const std::string& strings) {
  const BlobPrompts prompts = {count, default_prompt};
  const std::size_t size = sizeof(prompts) + strings.size();
  SyntheticSection section = {kSectionPrompts, std::vector<std::uint8_t>(size)};
  std::memcpy(section.bytes.data(), &prompts, sizeof(prompts));
  std::ranges::copy(strings, section.bytes.begin() + sizeof(prompts));
  return section;
}

SyntheticModel planes_of_two_stacks(const SyntheticModel& sizes) {
  constexpr std::uint32_t kLayers = 48;
  SyntheticModel model = sizes;
  model.flags = kStackCausal | kStackCrossAttention;
  model.cross_hidden_size = model.hidden_size;
  model.encoder = {sizes};
  model.encoder[0].flags = 0;
  model.encoder[0].num_layers = kLayers;
  model.optional = {{kSectionPlanes, std::vector<std::uint8_t>(kLayers * sizeof(BlobPlanes))}};
  const BlobPlanes scores = {.qkv = kPlanesAll, .probabilities = kPlanesScores};
  for (std::size_t l = 0; l < kLayers; ++l) {
    std::memcpy(model.optional[0].bytes.data() + l * sizeof(scores), &scores, sizeof(scores));
  }
  return model;
}

namespace {

// Codes of 8 bits are 1/128 of turned values. Angles of base 100, whatever the layer.
std::vector<std::uint8_t> rotary_bytes(const SyntheticModel& m) {
  std::vector<std::uint8_t> bytes;
  append_bytes(bytes, std::vector<BlobRotary>{{m.rotary_tables, 0, {0, 6}}});
  append_bytes(bytes, std::vector<std::int32_t>(pad_columns(m.head_size), 1 << 30));
  std::vector<std::int16_t> angles;
  const std::uint32_t half = m.head_size / 2;
  for (std::uint32_t table = 0; table < m.rotary_tables; ++table) {
    for (std::uint32_t p = 0; p < m.max_positions; ++p) {
      for (std::uint32_t c = 0; c < m.head_size; ++c) {
        const double angle = p * std::pow(100.0 + 900 * table, -1.0 * (c % half) / half);
        angles.push_back(static_cast<std::int16_t>(
            std::floor((c < half ? std::cos(angle) : std::sin(angle)) * 16384 + 0.5)));
      }
    }
  }
  append_bytes(bytes, angles);
  return bytes;
}

/// The optional sections that the bits of `m.flags` and `m.heads` demand. Id 1 is the padding id;
/// kHeadPooledTransform makes the mean of
/// the tokens; both transforms have a LayerNorm.
std::vector<SyntheticSection> make_flag_sections(const SyntheticModel& m) {
  std::vector<SyntheticSection> sections;
  Writer draws(m, 0);  // only draws
  const std::size_t hidden = m.hidden_size, columns = pad_columns(hidden);
  const Factor dense = encode(4096 / sum_spread(hidden, 3000));
  const auto append = [&](const auto& values) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    sections.back().bytes.insert(sections.back().bytes.end(), bytes,
                                 bytes + values.size() * sizeof(values[0]));
  };
  if ((m.flags & kStackPaddingPosition) != 0) {
    sections.push_back({kSectionPaddingPosition, {}});
    append(std::vector{BlobPaddingPosition{1, 0}});
  }
  if ((m.flags & kStackScoreBias) != 0) {
    sections.push_back({kSectionScoreBias, {}});
    append(draws.random<std::int32_t>(m.num_heads * (2 * m.max_positions - 1), -200000, 200000));
  }
  if ((m.flags & kStackEmbeddingProjection) != 0) {
    const std::size_t size = m.embedding_size;
    const Factor to_codes = encode(4096 / sum_spread(size, 3000));
    sections.push_back({kSectionEmbeddingProjection, {}});
    append(std::vector{BlobEmbeddingProjection{m.embedding_size,
                                               0,
                                               {static_cast<std::int64_t>(size * size), 17, 0},
                                               {to_codes.shifts, 0, 0},
                                               {}}});
    std::vector<std::int32_t> sums;
    append(draws.weights(hidden, size, sums));
    append(draws.random<std::int32_t>(columns, -1000, 1000));
    append(sums);
    append(std::vector<std::int32_t>(columns, to_codes.multiplier));
    append(draws.random<std::int32_t>(size, 16 << 25, 24 << 25));
    append(draws.random<std::int32_t>(size, -(1 << 20), 1 << 20));
  }
  if ((m.flags & kStackSharedLayers) != 0) {
    sections.push_back({kSectionSharedLayers, {}});
    append(m.shared);
  }
  if ((m.flags & kStackBottleneck) != 0) add_bottleneck_sections(m, draws, sections);
  if ((m.flags & kStackWordProjection) != 0) add_word_projection(m, draws, sections);
  BlobHeadTransform record = {};
  record.norm = {.epsilon_n2 = 1000, .shift = 16, .reserved = 0};
  record.activation = kActivationGelu;
  record.exponent = 10;
  const auto append_norm = [&] {
    append(draws.random<std::int32_t>(hidden, 1 << 26, 1 << 27));  // times 2^11 to 2^12
    append(draws.random<std::int32_t>(hidden, -100000, 100000));
  };
  if ((m.heads & kHeadPooledTransform) != 0) {
    sections.push_back({kSectionPooledTransform, {}});
    record.mean = 1;
    append(std::vector{record});
    append_norm();
  }
  if ((m.heads & kHeadTokenTransform) != 0) {
    sections.push_back({kSectionTokenTransform, {}});
    record.mean = 0;
    record.dense = {dense.shifts, 0, 0};
    append(std::vector{record});
    std::vector<std::int32_t> sums;
    append(draws.weights(hidden, hidden, sums));
    append(draws.random<std::int32_t>(columns, -1000, 1000));
    append(sums);
    append(std::vector<std::int32_t>(columns, dense.multiplier));
    append_norm();
  }
  if ((m.heads & kHeadLmActivation) != 0) {
    sections.push_back({kSectionLmActivation, {}});
    append(std::vector{BlobLmActivation{kActivationRelu, 0}});
  }
  return sections;
}

// Those of the stack's flags among those that the test asks for, by kind.
std::vector<SyntheticSection> optional_sections(const SyntheticModel& m) {
  std::vector<SyntheticSection> all = m.optional;
  if ((m.flags & kStackRotary) != 0) all.push_back({kSectionRotary, rotary_bytes(m)});
  if ((m.flags & kStackLocalAttention) != 0) {
    all.push_back({kSectionLocalAttention, {}});
    append_bytes(all.back().bytes, std::vector<BlobLocalAttention>{m.local_attention});
  }
  if ((m.flags & kStackGatedFfn) != 0) {
    all.push_back({kSectionGatedFfn, {}});
    append_bytes(all.back().bytes, std::vector<BlobGatedFfn>(m.num_layers, {9}));
  }
  if ((m.flags & kStackEmbeddings4Bit) != 0) {
    BlobEmbeddings4Bit record = {};
    for (int k = 0; k < 16; ++k) record.levels[k] = static_cast<std::int8_t>(16 * k - 120);
    all.push_back({kSectionEmbeddings4Bit, {}});
    append_bytes(all.back().bytes, std::vector{record});
    const bool has_words = (m.flags & kStackWordProjection) != 0;
    const std::size_t bytes =
        m.vocab_size * word_row_bytes(has_words ? m.word_size : embedding_size(m));
    append_bytes(all.back().bytes, Writer(m, 0).random<std::uint8_t>(bytes, 0, 255));
  }
  if ((m.flags & kStackPlanes) != 0) {
    all.push_back({kSectionPlanes, {}});
    append_bytes(all.back().bytes, std::vector<BlobPlanes>(m.num_layers, m.planes));
    for (std::size_t i = 0; i < m.num_layers * std::size_t{m.planes.copied_inputs}; ++i) {
      append_bytes(all.back().bytes,
                   std::vector<std::uint16_t>{static_cast<std::uint16_t>(7 * i % m.hidden_size)});
    }
  }
  for (SyntheticSection& section : make_flag_sections(m)) all.push_back(std::move(section));
  std::ranges::stable_sort(all, {}, &SyntheticSection::kind);
  return all;
}

}  // namespace

std::vector<std::uint8_t> make_synthetic_blob(const SyntheticModel& m,
                                              const std::vector<std::uint8_t>& tokenizer) {
  std::uint32_t stacks = 1, sections = stack_sections(m.num_layers) + kSectionsOfModel;
  for (const SyntheticModel& encoder : m.encoder) {
    ++stacks;
    sections += stack_sections(encoder.num_layers);
  }
  const std::vector<SyntheticSection> optional = optional_sections(m);
  sections += static_cast<std::uint32_t>(optional.size());
  Writer out(m, sections);
  for (const SyntheticModel& encoder : m.encoder) StackWriter(out, encoder).write(0);
  StackWriter last(out, m);
  last.write(stacks - 1);

  const auto has = [&](std::uint32_t head) { return (m.heads & head) != 0; };
  const std::size_t hidden = m.hidden_size;
  const Factor dense = encode(4096 / sum_spread(hidden, 3000));
  out.enter(0, 0);
  const auto dense16 = [&](std::uint32_t kind, bool there, std::size_t n, std::size_t k) {
    out.start(kind);
    if (!there) return;
    std::vector<std::int32_t> sums;
    out.append(out.weights(n, k, sums));
    out.append(out.random<std::int32_t>(pad_columns(n), -1000, 1000));
    out.append(sums);
    out.append(std::vector<std::int32_t>(pad_columns(n), dense.multiplier));
  };
  const bool pools_dense = has(kHeadPooler) && !has(kHeadPooledAsIs);
  dense16(kSectionPooler, pools_dense, hidden, hidden);
  dense16(kSectionClassifier, has(kHeadClassifier), m.num_labels, hidden);
  dense16(kSectionTokenClassifier, has(kHeadTokenClassifier), m.num_token_labels, hidden);
  const std::size_t embeddings = embedding_size(m);
  dense16(kSectionLmTransform, has(kHeadLmTransform), embeddings, hidden);
  if (has(kHeadLmTransform)) {
    last.add_norm(kSectionLmNorm, embeddings);
  } else {
    out.add(kSectionLmNorm);
  }
  const std::size_t untied = has(kHeadLmUntied) ? m.vocab_size : 0;
  out.add(kSectionLmRows, out.random<std::int8_t>(untied * embeddings, -127, 127));
  out.add(kSectionLmMultipliers, out.random<std::int32_t>(untied, 2000000, 4000000));
  out.add(kSectionLmBias,
          out.random<std::int32_t>(has(kHeadLm) ? m.vocab_size : 0, -100000, 100000));
  const std::size_t states = last.record().cross_hidden_size;
  dense16(kSectionProjection, has(kHeadProjection), states,
          m.encoder.empty() ? 0 : m.encoder[0].hidden_size);
  out.add(kSectionTokenizer, tokenizer);
  const auto names = [&](std::uint32_t kind, bool there, std::uint32_t count) {
    std::string text;
    for (std::uint32_t i = 0; there && i < count; ++i) text += "label" + std::to_string(i) + '\0';
    out.add(kind, std::vector<char>(text.begin(), text.end()));
  };
  names(kSectionLabels, has(kHeadClassifier), m.num_labels);
  names(kSectionTokenLabels, has(kHeadTokenClassifier), m.num_token_labels);
  out.add(kSectionCertificate, std::vector<char>(m.certificate.begin(), m.certificate.end()));
  out.start(kSectionSelftest);
  if (!m.selftest_ids.empty()) {
    out.append(std::vector<BlobSelftest>{{0, static_cast<std::uint32_t>(m.selftest_ids.size())}});
    out.append(m.selftest_ids);
  }
  for (const SyntheticSection& section : optional) {
    out.enter(0, section.layer);
    out.add(section.kind, section.bytes);
  }

  std::vector<std::uint8_t> blob = out.take();
  BlobHeader header = {};
  std::memcpy(header.magic, kBlobMagic, sizeof(kBlobMagic));
  header.version = kBlobVersion;
  header.blob_bytes = blob.size();
  header.layout = m.weight_order == RhsOrder::kN8K16 ? kLayoutN8K16 : kLayoutN16K4;
  header.section_count = sections;
  header.num_stacks = stacks;
  header.task_heads = m.heads;
  header.max_tokens = m.max_positions;
  header.pooling = m.pooling;
  header.normalize = m.normalize;
  header.num_labels = has(kHeadClassifier) ? m.num_labels : 0;
  header.num_token_labels = has(kHeadTokenClassifier) ? m.num_token_labels : 0;
  header.start_id = m.start_id;
  header.end_id = m.end_id;
  header.pooled_scale = header.logits_scale = header.token_logits_scale = StackWriter::kScale;
  header.lm_logits_scale = (127u - 18u) << 23;  // logits spread over about 2 nats
  const BlobDense16 record = {dense.shifts, 0, 0};
  if (pools_dense) header.pooler = record;
  if (has(kHeadClassifier)) header.classifier = record;
  if (has(kHeadTokenClassifier)) header.token_classifier = record;
  if (has(kHeadProjection)) header.projection = record;
  if (has(kHeadLmTransform)) {
    header.lm_transform = record;
    header.lm_exponent = 10;
    header.lm_norm = last.norm();
  }
  if (has(kHeadLm)) header.lm_shift = 24;
  for (const SyntheticModel& encoder : m.encoder) {
    header.stacks[0] = StackWriter(out, encoder).record();
  }
  header.stacks[stacks - 1] = last.record();
  std::memcpy(blob.data(), &header, sizeof(header));
  seal_blob(blob.data(), blob.size());
  return blob;
}

}  // namespace embert::test
