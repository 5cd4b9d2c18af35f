// SPDX-License-Identifier: Apache-2.0
#include "kernels/variants.hpp"

namespace embert {

void embedding_s16_scalar(const EmbeddingArgs& args) {
  for (size_t c = 0; c < args.n; ++c) {
    const int32_t segment = args.segment != nullptr ? args.segment[c] : 0;
    args.dst[c] = static_cast<int16_t>(
        embedding_value(args.word[c], args.multiplier, args.position[c], segment));
  }
}

void embedding_4bit_scalar(const Embedding4BitArgs& args) {
  for (size_t c = 0; c < args.n; ++c) {
    const int32_t segment = args.segment != nullptr ? args.segment[c] : 0;
    args.dst[c] = static_cast<int16_t>(embedding_value(
        word_level(args.levels, args.row, c), word_scale(args.row, args.n, c) * args.multiplier,
        args.position[c], segment));
  }
}

void embedding_vector_scalar(const EmbeddingVectorArgs& args) {
  for (size_t c = 0; c < args.n; ++c) {
    const int32_t segment = args.segment != nullptr ? args.segment[c] : 0;
    args.dst[c] = static_cast<int16_t>(
        embedding_value(args.src[c], args.multiplier, args.position[c], segment));
  }
}

}  // namespace embert
