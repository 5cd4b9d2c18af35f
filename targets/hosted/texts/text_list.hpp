// SPDX-License-Identifier: Apache-2.0
// Lists of texts in the form of embert_hosted_texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "targets/hosted/embert_hosted.h"
#include "targets/hosted/threads/progress.hpp"

namespace embert::hosted {

/// A text, or a pair of texts that the model reads together.
struct TextItem {
  std::string_view text;
  std::optional<std::string_view> pair;
};

/// Text i of a list.
TextItem text_at(const embert_hosted_texts& texts, size_t i);

/// Returns the list with zeros for what an older caller does not know. Throws UsageError for a list
/// that cannot be: wrong size, null pointers, offsets that fall.
embert_hosted_texts checked_texts(const embert_hosted_texts* texts);

Progress progress_of(const embert_hosted_texts& texts);

/// Texts that are longer than the model.
enum class LongTexts {
  kCut,     ///< run as far as the model reads
  kLeftOut  ///< have no tokens, so that they are in no pass; their rows say that they were cut
};

/// A list that owns its texts.
class TextList {
 public:
  void add(std::string_view text);
  /// The texts of a list are all pairs or all alone.
  void add(std::string_view text, std::string_view pair);
  size_t count() const { return offsets_.size() - 1; }
  /// Valid until the next add().
  embert_hosted_texts view() const;

 private:
  std::string bytes_, pair_bytes_;
  std::vector<uint64_t> offsets_ = {0};  ///< [count + 1]
  std::vector<uint64_t> pair_offsets_;   ///< [count + 1]; empty: no pairs
};

}  // namespace embert::hosted
