// SPDX-License-Identifier: Apache-2.0
// The sections that MobileBERT's layers and words bring to a synthetic blob.
#include "tests/support/synthetic_writer.hpp"

namespace embert::test {
namespace {

/// Parts of a section, drawn one after another.
class Parts {
 public:
  Parts(Writer& draws, SyntheticSection& section) : draws_(draws), bytes_(section.bytes) {}

  template <typename T>
  void add(const std::vector<T>& values) {
    append_bytes(bytes_, values);
  }
  void dense(std::size_t n, std::size_t k, const Factor& factor) {
    std::vector<std::int32_t> sums;
    add(draws_.weights(n, k, sums));
    add(draws_.random<std::int32_t>(sums.size(), -2000, 2000));
    add(sums);
    add(std::vector<std::int32_t>(sums.size(), factor.multiplier));
  }
  void residual_dense(std::size_t n, std::size_t k, const Factor& factor, bool adds) {
    std::vector<std::int32_t> sums;
    add(draws_.weights(n, k, sums));
    add(sums);
    add(std::vector<std::int32_t>(sums.size(), factor.multiplier));
    add(adds ? draws_.random<std::int32_t>(sums.size(), 400000, 1000000)
             : std::vector<std::int32_t>(sums.size(), 0));
    add(draws_.random<std::int32_t>(sums.size(), -5000, 5000));
  }
  void norm(const BlobNorm& record, std::size_t size) {
    if (record.shift == 0) return;
    add(draws_.random<std::int32_t>(size, 16 << 25, 24 << 25));
    add(draws_.random<std::int32_t>(size, -(1 << 20), 1 << 20));
  }

 private:
  Writer& draws_;
  std::vector<std::uint8_t>& bytes_;
};

/// Rows of a fixed scale become sums with a deviation of about 40 * 128.
Factor bottleneck_factor(std::size_t inputs) {
  return encode(16 * 2 * 40 * 128 / sum_spread(inputs, 40));
}

}  // namespace

void add_bottleneck_sections(const SyntheticModel& m, Writer& draws,
                             std::vector<SyntheticSection>& sections) {
  const BlobBottleneck& config = m.bottleneck;
  const std::size_t hidden = m.hidden_size, intra = config.intra_size;
  const BlobNorm norm = m.layer_norms ? BlobNorm{1000, 17, 0} : BlobNorm{};
  sections.push_back({kSectionBottleneck, {}});
  append_bytes(sections.back().bytes, std::vector{config});
  const bool shared = config.kind == kBottleneckShared;
  const Factor narrow = bottleneck_factor(hidden), widen = bottleneck_factor(intra);
  const Factor value = encode(8000 / sum_spread(hidden, 40));
  for (std::uint32_t l = 0; config.kind != kBottleneckNone && l < m.num_layers; ++l) {
    sections.push_back({kSectionLayerBottleneck, {}, l});
    Parts parts(draws, sections.back());
    BlobLayerBottleneck record = {};
    record.input_norm = record.widening_norm = norm;
    record.input = narrow.shifts;
    record.output = widen.shifts;
    if (shared) {
      record.query_key_norm = norm;
      record.query_key = narrow.shifts;
    }
    parts.add(std::vector{record});
    parts.residual_dense(intra, hidden, narrow, /*adds=*/false);
    if (shared) {
      parts.residual_dense(intra, hidden, narrow, /*adds=*/false);
      parts.dense(m.num_heads * pad_columns(m.head_size), hidden, value);
    }
    parts.residual_dense(hidden, intra, widen, /*adds=*/true);
    for (int i = 0; i < (shared ? 3 : 2); ++i) parts.norm(norm, intra);
  }
  const Factor up = encode(1500 / sum_spread(intra, 40)),
               down = encode(2000.0 * 32768 / 2000 / sum_spread(m.intermediate_size, 80) * 8);
  for (std::uint32_t l = 0; config.num_ffns > 1 && l < m.num_layers; ++l) {
    sections.push_back({kSectionStackedFfn, {}, l});
    Parts parts(draws, sections.back());
    const BlobStackedFfn record = {.norm = norm,
                                   .intermediate_size = m.intermediate_size,
                                   .activation_exponent = 10,
                                   .up = up.shifts,
                                   .down = down.shifts,
                                   .padding = {}};
    const std::vector<BlobStackedFfn> records(config.num_ffns - 1, record);
    parts.add(records);
    for (std::size_t i = 0; i < records.size(); ++i) {
      parts.dense(m.intermediate_size, intra, up);
      parts.residual_dense(intra, m.intermediate_size, down, /*adds=*/true);
    }
    for (std::size_t i = 0; i < records.size(); ++i) parts.norm(norm, intra);
  }
}

void add_word_projection(const SyntheticModel& m, Writer& draws,
                         std::vector<SyntheticSection>& sections) {
  const std::size_t inputs = std::size_t{m.words} * m.word_size;
  const Factor factor = encode(4096 / sum_spread(inputs, 3000));
  sections.push_back({kSectionWordProjection, {}});
  Parts parts(draws, sections.back());
  parts.add(std::vector<BlobWordProjection>{{m.word_size, m.words, {factor.shifts, 0, 0}, {}}});
  parts.dense(m.hidden_size, inputs, factor);
}

}  // namespace embert::test
