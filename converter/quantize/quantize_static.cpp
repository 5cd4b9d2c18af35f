// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/quantize_static.hpp"

#include <algorithm>
#include <bit>

#include "converter/quantize/encode_integers.hpp"
#include "converter/quantize/quantize_embeddings.hpp"

namespace embert::convert {

QuantizedStack quantize_static(const StackConfig& config, const StackWeights& weights) {
  const Matrix& table = weights.word_embeddings;
  QuantizedStack out;
  // A row fills 16 bits at most; the runtime adds rows in 32.
  const auto scale = static_cast<float>(
      std::max(static_cast<double>(largest_magnitude(table.data)) / 32767, kLeastScale));
  quantize_words(table, static_cast<double>(scale), out);
  out.positions.resize(table.cols);
  out.segments.resize(table.cols);
  out.record.flags = kStackStatic;
  out.record.hidden_size = static_cast<std::uint32_t>(table.cols);
  out.record.vocab_size = static_cast<std::uint32_t>(table.rows);
  out.record.max_positions = static_cast<std::uint32_t>(config.max_position_embeddings);
  out.record.type_vocab_size = 1;
  out.record.embedding_scale = out.record.hidden_scale = std::bit_cast<std::uint32_t>(scale);
  out.static_embeddings = BlobStatic{
      .dropped_id =
          config.dropped_token < 0 ? UINT32_MAX : static_cast<std::uint32_t>(config.dropped_token),
      .reserved = {}};
  return out;
}

}  // namespace embert::convert
