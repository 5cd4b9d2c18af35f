// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/common/text_windows.hpp"

#include <algorithm>

#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::hosted {

static constexpr size_t kLargestDefaultStride = 128;

uint32_t window_size(const ModelFile& file, const WindowOptions& options, uint32_t max_tokens) {
  const uint32_t positions = file.info().max_positions;
  if (options.window > positions) {
    throw UsageError(quoted_path(file.path()) + ": the model has " + std::to_string(positions) +
                     " positions, not " + std::to_string(options.window));
  }
  return options.window != 0 ? options.window : max_tokens;
}

std::vector<TextTokens> windows_of(const embert_model& model, const TextItem& item, uint32_t most,
                                   std::optional<uint32_t> stride) {
  const bool pair = item.pair.has_value();
  TextTokens all = tokenize_text(model, item, 0);
  // The tokens are a prefix, the text to split, and a suffix. Special tokens and the first text of
  // a pair belong to prefix and suffix.
  const auto is_text = [&](int32_t sequence) { return sequence == (pair ? 1 : 0); };
  const auto& sequences = all.sequence_ids;
  const auto first = std::find_if(sequences.begin(), sequences.end(), is_text);
  const auto last = std::find_if(sequences.rbegin(), sequences.rend(), is_text).base();
  std::vector<TextTokens> windows;
  if (all.ids.size() <= most) {
    windows.push_back(std::move(all));
    return windows;
  }
  const auto begin = static_cast<size_t>(first - sequences.begin());
  const auto end = std::max(begin, static_cast<size_t>(last - sequences.begin()));
  const size_t fixed_tokens = all.ids.size() - (end - begin);
  if (fixed_tokens >= most) {
    throw TextError(0, "the " + std::to_string(fixed_tokens) +
                           " tokens around the text leave it no room in " + std::to_string(most) +
                           " (" + embert_status_name(EMBERT_STATUS_TRUNCATION) + ")");
  }
  const size_t room = most - fixed_tokens;
  size_t overlap = stride.value_or(std::min<uint32_t>(most / 2, kLargestDefaultStride));
  if (!stride && overlap >= room) overlap = room / 2;
  if (overlap >= room) {
    throw UsageError("--stride " + std::to_string(overlap) + ": a window of " +
                     std::to_string(most) + " tokens has " + std::to_string(room) +
                     " of the text, which must be more (" +
                     embert_status_name(EMBERT_STATUS_TRUNCATION) + ")");
  }
  for (size_t at = begin;; at += room - overlap) {
    const size_t stop = std::min(at + room, end);
    windows.emplace_back();
    windows.back().append(all, 0, begin);
    windows.back().append(all, at, stop);
    windows.back().append(all, end, all.ids.size());
    if (stop == end) return windows;
  }
}

}  // namespace embert::hosted
