// SPDX-License-Identifier: Apache-2.0
// A part of a list of texts as tokens, in order of length. The list is worked through in chunks, so
// that memory does not grow with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "targets/hosted/hosted_model.hpp"
#include "targets/hosted/texts/text_list.hpp"

namespace embert::hosted {

/// Texts to tokenise, and what is put before each of them.
struct PromptedTexts {
  const embert_hosted_texts& texts;
  std::string_view prompt;
};

/// Texts of a pass: a range of TokenChunk::order().
struct PassRange {
  size_t begin, end;
};

class TokenChunk {
 public:
  /// Tokenises texts from `begin` on in the model's threads: at most some thousands, and fewer if
  /// they are long. Replaces the texts before.
  void read(HostedModel& model, const PromptedTexts& input, size_t begin);

  /// The first text behind the chunk.
  size_t end() const { return end_; }

  struct Text {
    uint32_t length;  ///< tokens
    uint32_t index;   ///< in the chunk
    bool truncated;   ///< cut to the model's length
  };
  /// The chunk's texts with the longest first, which is the order of passes: a thread that has
  /// nothing left to do waits for a short pass.
  const std::vector<Text>& order() const { return order_; }
  /// Index in the list.
  size_t list_index(const Text& text) const { return begin_ + text.index; }

  /// Cuts the texts that have tokens into passes of at most `most_texts`, for `threads` threads.
  std::vector<PassRange> passes(uint32_t most_texts, uint32_t threads) const;
  void add_to(Batch& batch, const Text& text) const;

 private:
  struct Block {
    std::vector<int32_t> ids, type_ids;  ///< [tokens of the block's texts]; no type_ids: no pairs
    std::vector<size_t> starts;          ///< [texts + 1]
    std::vector<bool> truncated;         ///< [texts]
  };
  void read_block(const HostedModel& model, const PromptedTexts& input, size_t number);

  size_t begin_ = 0, end_ = 0;
  std::vector<Block> blocks_;
  std::vector<Text> order_;
};

}  // namespace embert::hosted
