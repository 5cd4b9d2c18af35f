// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/bottleneck_sections.hpp"

#include "runtime/model/record_checks.hpp"

namespace embert {
namespace {

/// Takes the parts of a section one after another: first to see that the section is as long as they
/// are together, then to check their values.
class PartChecks {
 public:
  PartChecks(Walk& walk, const uint8_t* section, uint64_t bytes, bool values)
      : walk_(walk), at_(section), left_(bytes), values_(values) {}

  /// The next part, or null after a failure.
  const uint8_t* take(uint64_t bytes) {
    walk_.require(bytes <= left_, EMBERT_STATUS_BLOB_SECTION);
    if (!walk_.sound()) return nullptr;
    const uint8_t* part = at_;
    at_ += bytes;
    left_ -= bytes;
    return part;
  }
  void dense(size_t n, size_t k) {
    const uint8_t* part = take(dense_bytes(n, k));
    if (part != nullptr && values_) walk_.dense_values(part, n, k);
  }
  /// adds: to a residual; else the residual multipliers are 0.
  void residual_dense(size_t n, size_t k, bool adds) {
    const uint8_t* part = take(residual_dense_bytes(n, k));
    if (part == nullptr || !values_) return;
    walk_.residual_dense(part, n, k);
    const size_t columns = pad_columns(n);
    const int32_t* residual =
        reinterpret_cast<const int32_t*>(part + columns * pad_inputs(k)) + 2 * columns;
    walk_.require_value(adds || all_in<int32_t>(residual, columns, 0, 0));
  }
  void norm(const BlobNorm& record, size_t size) {
    if (!has_norm(record)) return;
    const uint8_t* part = take(norm_bytes(size));
    if (part != nullptr && values_) walk_.norm_parts(reinterpret_cast<const int32_t*>(part), size);
  }
  void finish() { walk_.require(left_ == 0, EMBERT_STATUS_BLOB_SECTION); }

  /// visit(parts) takes the parts behind `record_bytes` of a section.
  template <typename Visit>
  static void run(Walk& walk, const uint8_t* section, uint64_t bytes, size_t record_bytes,
                  Visit visit) {
    for (int pass = 0; pass < 2 && walk.sound(); ++pass) {
      PartChecks parts(walk, section + record_bytes, bytes - record_bytes, pass == 1);
      visit(parts);
      parts.finish();
    }
  }

 private:
  Walk& walk_;
  const uint8_t* at_;
  uint64_t left_;
  bool values_;
};

/// The sections of one layer.
struct LayerSection {
  const BlobStack& stack;
  const BlobLayer& layer;
  const BlobBottleneck& bottleneck;
  const uint8_t* section;
  uint64_t bytes;

  /// A LayerNorm is there if and only if the stack has them.
  bool norm_ok(const BlobNorm& norm) const {
    return has_norm(stack.final_norm) ? embert::norm_ok(norm) : all_zero(norm);
  }
};

void check_layer_bottleneck(Walk& walk, const LayerSection& at) {
  using Record = BlobLayerBottleneck;
  walk.require(at.bytes >= sizeof(Record), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const Record& record = *reinterpret_cast<const Record*>(at.section);
  const bool shared = at.bottleneck.kind == kBottleneckShared;
  walk.require_value(at.norm_ok(record.input_norm) && at.norm_ok(record.widening_norm) &&
                     (shared ? at.norm_ok(record.query_key_norm) && shifts_ok(record.query_key)
                             : all_zero(record.query_key_norm) && all_zero(record.query_key)) &&
                     shifts_ok(record.input) && shifts_ok(record.output) &&
                     all_zero(record.padding));
  const size_t hidden = at.stack.hidden_size, intra = at.bottleneck.intra_size;
  PartChecks::run(walk, at.section, at.bytes, sizeof(Record), [&](PartChecks& parts) {
    parts.residual_dense(intra, hidden, /*adds=*/false);
    if (shared) {
      parts.residual_dense(intra, hidden, /*adds=*/false);
      parts.dense(at.layer.num_heads * pad_columns(at.stack.head_size), hidden);
    }
    parts.residual_dense(hidden, intra, /*adds=*/true);
    parts.norm(record.input_norm, intra);
    parts.norm(record.query_key_norm, intra);
    parts.norm(record.widening_norm, intra);
  });
}

void check_stacked_ffns(Walk& walk, const LayerSection& at) {
  const size_t count = at.bottleneck.num_ffns - 1, intra = at.bottleneck.intra_size;
  walk.require(at.bytes >= count * sizeof(BlobStackedFfn), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const auto* records = reinterpret_cast<const BlobStackedFfn*>(at.section);
  for (size_t i = 0; i < count && walk.sound(); ++i) {
    const BlobStackedFfn& record = records[i];
    walk.require_value(at.norm_ok(record.norm) &&
                       in_range(record.intermediate_size, 1, at.stack.intermediate_size) &&
                       record.activation_exponent >= 5 && record.activation_exponent <= 12 &&
                       shifts_ok(record.up) && shifts_ok(record.down) && all_zero(record.padding));
  }
  PartChecks::run(walk, at.section, at.bytes, count * sizeof(*records), [&](PartChecks& parts) {
    for (size_t i = 0; i < count; ++i) {
      parts.dense(records[i].intermediate_size, intra);
      parts.residual_dense(intra, records[i].intermediate_size, /*adds=*/true);
    }
    for (size_t i = 0; i < count; ++i) parts.norm(records[i].norm, intra);
  });
}

}  // namespace

bool bottleneck_ok(const BlobBottleneck& record, const BlobStack& stack) {
  return in_range(record.intra_size, 1, stack.hidden_size) &&
         in_range(record.num_ffns, 1, kMaxFfns) && record.kind < kBottleneckKindCount &&
         record.reserved == 0 &&
         (record.kind != kBottleneckNone || record.intra_size == stack.hidden_size);
}

void check_word_projection(Walk& walk, const BlobStack& stack, const uint8_t* section,
                           uint64_t bytes) {
  using Record = BlobWordProjection;
  walk.require(bytes >= sizeof(Record), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const Record& record = *reinterpret_cast<const Record*>(section);
  walk.require_value(in_range(record.word_size, 1, stack.hidden_size) &&
                     (record.words == 1 || record.words == 3) && dense16_ok(record.dense) &&
                     all_zero(record.padding));
  PartChecks::run(walk, section, bytes, sizeof(Record), [&](PartChecks& parts) {
    parts.dense(stack.hidden_size, size_t{record.words} * record.word_size);
  });
}

void check_layer_sections(Walk& walk, uint32_t kind, const BlobStack& stack,
                          const StackOptions& options) {
  for (uint32_t l = 0; l < stack.num_layers && walk.sound(); ++l) {
    walk.require(!walk.at_end(), EMBERT_STATUS_BLOB_SECTION);
    if (!walk.sound()) return;
    uint64_t bytes = 0;
    walk.enter(0, l);
    const uint8_t* section = walk.next_of_any_size(kind, &bytes);
    if (!walk.sound()) return;
    const LayerSection at = {stack, options.layers[l], options.bottleneck, section, bytes};
    if (kind == kSectionLayerBottleneck) {
      check_layer_bottleneck(walk, at);
    } else {
      check_stacked_ffns(walk, at);
    }
  }
  walk.enter(0, 0);
}

}  // namespace embert
