// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/texts/text_list.hpp"

#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/read_struct.hpp"

namespace embert::hosted {
namespace {

static_assert(ends_with(offsetof(embert_hosted_texts, reserved), &embert_hosted_texts::reserved));

constexpr uint32_t kLargestBatch = 1024;  // as embert_options.max_batch

std::string_view slice(const char* bytes, const uint64_t* offsets, size_t i) {
  return {bytes + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
}

void check_offsets(const uint64_t* offsets, size_t count, const char* name) {
  for (size_t i = 0; i < count; ++i) {
    if (offsets[i] <= offsets[i + 1]) continue;
    throw UsageError(std::string("texts: ") + name + "[" + std::to_string(i + 1) + "] is " +
                     std::to_string(offsets[i + 1]) + ", less than the " +
                     std::to_string(offsets[i]) + " before it");
  }
}

}  // namespace

TextItem text_at(const embert_hosted_texts& texts, size_t i) {
  TextItem item = {slice(texts.bytes, texts.offsets, i), {}};
  if (texts.pair_offsets != nullptr) item.pair = slice(texts.pair_bytes, texts.pair_offsets, i);
  return item;
}

embert_hosted_texts checked_texts(const embert_hosted_texts* texts) {
  const auto whole =
      read_struct(texts, offsetof(embert_hosted_texts, pair_bytes), "embert_hosted_texts");
  if (whole.count == 0) return whole;
  if (whole.offsets == nullptr) throw UsageError("texts: offsets is null");
  check_offsets(whole.offsets, whole.count, "offsets");
  if (whole.bytes == nullptr && whole.offsets[whole.count] > 0) {
    throw UsageError("texts: bytes is null");
  }
  if (whole.pair_offsets != nullptr) {
    check_offsets(whole.pair_offsets, whole.count, "pair_offsets");
    if (whole.pair_bytes == nullptr && whole.pair_offsets[whole.count] > 0) {
      throw UsageError("texts: pair_bytes is null");
    }
  }
  if (whole.batch > kLargestBatch) {
    throw UsageError("batch " + std::to_string(whole.batch) + ": at most " +
                     std::to_string(kLargestBatch));
  }
  if (whole.reserved != 0) throw UsageError("texts: reserved takes 0");
  return whole;
}

Progress progress_of(const embert_hosted_texts& texts) {
  return Progress(texts.progress, texts.progress_context, texts.count);
}

void TextList::add(std::string_view text) {
  bytes_ += text;
  offsets_.push_back(bytes_.size());
}

void TextList::add(std::string_view text, std::string_view pair) {
  add(text);
  if (pair_offsets_.empty()) pair_offsets_.push_back(0);
  pair_bytes_ += pair;
  pair_offsets_.push_back(pair_bytes_.size());
}

embert_hosted_texts TextList::view() const {
  embert_hosted_texts texts = {.size = sizeof(texts)};
  texts.count = count();
  texts.bytes = bytes_.data();
  texts.offsets = offsets_.data();
  if (!pair_offsets_.empty()) {
    texts.pair_bytes = pair_bytes_.data();
    texts.pair_offsets = pair_offsets_.data();
  }
  return texts;
}

}  // namespace embert::hosted
