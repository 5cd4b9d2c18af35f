// SPDX-License-Identifier: Apache-2.0
// How the vector of a text is made (FORMAT.md, section 8).
#include "runtime/model/vector_section.hpp"

#include "runtime/model/record_checks.hpp"
#include "runtime/model/scale.hpp"

namespace embert {
namespace {

bool vector_dense_ok(const BlobVectorDense& d) {
  const bool curved = d.activation == kActivationGelu || d.activation == kActivationGeluNew ||
                      d.activation == kActivationSilu;
  return in_range(d.outputs, 1, kMaxVectorSize) && d.activation <= kVectorActivationNone &&
         (curved ? d.exponent >= 5 && d.exponent <= 12
                 : d.exponent == (d.activation == kActivationTanh ? 12 : 0)) &&
         scale_ok(d.scale) && d.normalize_input <= 1 && d.reserved == 0 && dense16_ok(d.dense);
}

bool vector_ok(const BlobVector& v, uint32_t hidden) {
  if (!in_range(v.num_poolings, 1, kMaxPoolings) || v.num_dense > kMaxVectorDense) return false;
  const uint32_t pooled = v.num_poolings * hidden;
  bool ok = pooled <= kMaxVectorSize && scale_ok(v.pooled_scale) && v.pooled_multiplier >= 1 &&
            v.pooled_shift >= 1 && v.pooled_shift <= 61 && all_zero(v.reserved) &&
            v.vector_size == (v.num_dense > 0 ? v.dense[v.num_dense - 1].outputs : pooled);
  for (uint32_t i = 0; i < kMaxPoolings; ++i) {
    ok = ok && v.poolings[i] < (i < v.num_poolings ? uint32_t{kVectorPoolingCount} : 1);
  }
  for (uint32_t i = 0; i < kMaxVectorDense; ++i) {
    ok = ok && (i < v.num_dense ? vector_dense_ok(v.dense[i]) : all_zero(v.dense[i]));
  }
  return ok;
}

}  // namespace

void check_vector(Walk& walk, const BlobHeader& header, const uint8_t* section, uint64_t bytes) {
  walk.require(bytes >= sizeof(BlobVector), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const BlobVector& vector = *reinterpret_cast<const BlobVector*>(section);
  const uint32_t hidden = header.stacks[header.num_stacks - 1].hidden_size;
  walk.require_value(vector_ok(vector, hidden));
  // Static embeddings have no tokens' states to pool in another way.
  walk.require_value((header.stacks[0].flags & kStackStatic) == 0 ||
                     (vector.num_poolings == 1 && vector.poolings[0] == kPoolingMean));
  if (!walk.sound()) return;
  uint64_t at = sizeof(vector);
  size_t inputs = vector.num_poolings * size_t{hidden};
  for (uint32_t i = 0; i < vector.num_dense && walk.sound(); ++i) {
    const size_t outputs = vector.dense[i].outputs;
    const uint8_t* dense = section + at;
    at += dense_bytes(outputs, inputs);
    walk.require(at <= bytes, EMBERT_STATUS_BLOB_SECTION);
    if (walk.sound()) walk.dense_values(dense, outputs, inputs);
    inputs = outputs;
  }
  walk.require(at == bytes, EMBERT_STATUS_BLOB_SECTION);
}

}  // namespace embert
