// SPDX-License-Identifier: Apache-2.0
// The inputs of a reference call as the runtime takes them: tokens of all texts one after another,
// masks as bytes, real numbers as integers with a scale.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "embert/embert_run.h"
#include "tests/golden/golden_case.hpp"

namespace embert::test {

/// How padding at the end of a text (by a 2-D mask) is passed on.
enum class Padding {
  kCut,    ///< cut off, unless the whole text is hidden
  kHidden  ///< kept, and hidden by a key mask
};

/// The texts of one call.
struct GoldenInput {
  std::size_t length = 0;              ///< of every text of the reference
  std::vector<std::uint32_t> lengths;  ///< of the texts
  std::vector<std::int32_t> ids, type_ids, position_ids, head_mask;
  std::uint32_t head_mask_layers = 0;
  std::vector<std::int16_t> embeddings;
  std::size_t embedding_width = 0;
  embert_scale embeddings_scale = {};
  std::vector<std::uint8_t> key_mask, pair_mask, cross_mask;

  std::size_t tokens() const;
  /// Its pointers point into this object.
  embert_input view() const;
};

/// The states that a decoder attends.
struct GoldenSource {
  std::size_t length = 0;  ///< of every source of the reference
  std::vector<std::uint32_t> lengths;
  std::vector<std::int16_t> states;
  embert_scale scale = {};
  std::vector<std::uint8_t> mask;
};

/// `ids` [batch, length] and nothing else.
GoldenInput golden_ids(const std::vector<std::int32_t>& ids, std::size_t batch);

/// The inputs of a call whose names begin with `prefix` ("" or "decoder_").
GoldenInput golden_input(const GoldenCase& golden, const std::string& call,
                         const std::string& prefix, Padding padding);

/// encoder_hidden_states and encoder_attention_mask of a call that has them. A mask of three
/// dimensions becomes the cross_mask of the call's input instead.
GoldenSource golden_source(const GoldenCase& golden, const std::string& call, Padding padding);

/// Tokens [begin[i], end[i]) of each text: ids, segments and key mask of a decoding step, with the
/// tokens before them in the cache.
GoldenInput golden_slice(const GoldenInput& input, const std::vector<std::size_t>& begin,
                         const std::vector<std::size_t>& end);

}  // namespace embert::test
