// SPDX-License-Identifier: Apache-2.0
// The bytes of a section, part by part. Integers are copied as they lie in memory: the format is
// little-endian, and so must be the machine.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "converter/model/quantized_model.hpp"
#include "kernels/arithmetic/pack.hpp"

namespace embert::convert {

static_assert(std::endian::native == std::endian::little, "the blob is little-endian");

/// A matrix of 8-bit weights by rows.
struct CodeMatrix {
  const std::vector<std::int8_t>& codes;  ///< [outputs, inputs]
  std::size_t outputs, inputs;
};

struct SectionParts {
  RhsOrder order = RhsOrder::kN16K4;  ///< of the weights of dense layers
  std::vector<std::uint8_t> bytes{};

  template <typename T>
  SectionParts& array(const std::vector<T>& part) {
    const std::size_t size = part.size() * sizeof(T);
    if (size > 0) std::memcpy(grow(size), part.data(), size);
    return *this;
  }
  template <typename T>
  SectionParts& record(const T& part) {
    std::memcpy(grow(sizeof(T)), &part, sizeof(T));
    return *this;
  }
  /// Weights, then their column sums.
  SectionParts& packed(const CodeMatrix& m) { return codes(m).sums(m); }
  SectionParts& dense(const QuantizedDense& layer) {
    const CodeMatrix m{.codes = layer.weights, .outputs = layer.outputs, .inputs = layer.inputs};
    return codes(m).array(layer.bias).sums(m).array(layer.multiplier);
  }
  SectionParts& residual_dense(const QuantizedDense& layer) {
    const CodeMatrix m{.codes = layer.weights, .outputs = layer.outputs, .inputs = layer.inputs};
    return packed(m).array(layer.multiplier).array(layer.residual).array(layer.constant);
  }
  SectionParts& norm(const QuantizedNorm& layer) { return array(layer.gain).array(layer.bias); }

 private:
  std::uint8_t* grow(std::size_t size) {
    bytes.resize(bytes.size() + size);
    return bytes.data() + bytes.size() - size;
  }
  SectionParts& codes(const CodeMatrix& m) {
    if (m.outputs == 0) return *this;  // memset takes no null pointer
    std::uint8_t* to = grow(m.outputs * pad_inputs(m.inputs));
    pack_rhs(order, m.codes.data(), m.outputs, m.inputs, reinterpret_cast<std::int8_t*>(to));
    return *this;
  }
  SectionParts& sums(const CodeMatrix& m) {
    std::vector<std::int32_t> values(m.outputs);
    column_sums(m.codes.data(), m.outputs, m.inputs, values.data());
    return array(values);
  }
};

}  // namespace embert::convert
