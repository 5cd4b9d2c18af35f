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
  LongTexts long_texts = LongTexts::kCut;
};

/// Token ids of texts as the model reads them, special tokens included.
struct TokenLists {
  std::vector<int32_t> ids;
  std::vector<int32_t> type_ids;     ///< [tokens]; empty: zeros
  std::vector<size_t> starts = {0};  ///< [texts + 1]

  size_t count() const { return starts.size() - 1; }
  size_t tokens_of(size_t text) const { return starts[text + 1] - starts[text]; }
  /// Ends the text whose tokens were added behind those of the texts before.
  void end_text() { starts.push_back(ids.size()); }
  /// Adds the texts begin .. end-1 of another list.
  void append(const TokenLists& from, size_t begin, size_t end);
};

/// The most texts of a pass if the caller leaves it open.
constexpr uint32_t kTextsPerPass = 32;

/// Texts of a pass: a range of TokenChunk::order().
struct PassRange {
  size_t begin, end;
};

class TokenChunk {
 public:
  /// Tokenises texts from `begin` on in the model's threads: at most some thousands, and fewer if
  /// they are long. Replaces the texts before.
  void read(HostedModel& model, const PromptedTexts& input, size_t begin);
  /// Takes texts that are tokens already. Replaces the texts before.
  void set(const TokenLists& lists);

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

  /// Cuts the texts that have tokens into passes for `threads` threads.
  std::vector<PassRange> passes(uint32_t threads) const;
  void add_to(Batch& batch, const Text& text) const;

 private:
  struct Block {
    std::vector<int32_t> ids, type_ids;  ///< [tokens of the block's texts]; no type_ids: no pairs
    std::vector<size_t> starts;          ///< [texts + 1]
    std::vector<bool> truncated;         ///< [texts]
  };
  void read_block(const HostedModel& model, const PromptedTexts& input, size_t number);
  /// Makes room for the blocks of the texts begin .. end-1; returns their number.
  size_t start(size_t begin, size_t end, uint32_t most_texts);
  void sort_by_length();

  size_t begin_ = 0, end_ = 0;
  uint32_t most_texts_ = kTextsPerPass;  ///< of a pass
  std::vector<Block> blocks_;
  std::vector<Text> order_;
};

}  // namespace embert::hosted
