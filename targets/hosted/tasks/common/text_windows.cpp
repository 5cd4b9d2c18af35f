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

bool is_split(const TextTokens& tokens, size_t i, int32_t split, size_t prompt_bytes) {
  return tokens.sequence_ids[i] == split && tokens.byte_offsets[2 * i] >= prompt_bytes;
}

std::vector<TextTokens> windows_of(const embert_model& model, const TextItem& item,
                                   const WindowShape& shape) {
  const auto& [most, stride, prompt_bytes] = shape;
  const int32_t split = item.pair ? 1 : 0;
  TextTokens all = tokenize_text(model, item, 0);
  // The tokens are a prefix, the text to split, and a suffix. Special tokens, the prompt and the
  // first text of a pair belong to prefix and suffix.
  size_t begin = 0, end = all.ids.size();
  while (begin < end && !is_split(all, begin, split, prompt_bytes)) ++begin;
  while (end > begin && !is_split(all, end - 1, split, prompt_bytes)) --end;
  std::vector<TextTokens> windows;
  if (all.ids.size() <= most) {
    windows.push_back(std::move(all));
    return windows;
  }
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
    throw UsageError("stride " + std::to_string(overlap) + ": a window of " + std::to_string(most) +
                     " tokens has " + std::to_string(room) + " of the text, which must be more (" +
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
