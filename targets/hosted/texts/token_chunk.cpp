// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/texts/token_chunk.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/model/text_tokens.hpp"

namespace embert::hosted {
namespace {

// A chunk is sorted and run before the next is read. 2,048 texts are enough to fill passes with
// texts of one length; their tokens take less than 1 MB.
constexpr size_t kTextsPerChunk = 2048;
constexpr size_t kBytesPerChunk = size_t{256} << 10;
constexpr size_t kTextsPerBlock = 8;  // what one thread tokenises at a time

size_t end_of_chunk(const embert_hosted_texts& texts, size_t begin) {
  size_t bytes = 0, end = begin;
  while (end < texts.count && end - begin < kTextsPerChunk && bytes < kBytesPerChunk) {
    const TextItem item = text_at(texts, end++);
    bytes += item.text.size() + item.pair.value_or("").size();
  }
  return end;
}

}  // namespace

void TokenLists::append(const TokenLists& from, size_t begin, size_t end) {
  const size_t before = ids.size();
  const auto first = static_cast<ptrdiff_t>(from.starts[begin]);
  const auto last = static_cast<ptrdiff_t>(from.starts[end]);
  ids.insert(ids.end(), from.ids.begin() + first, from.ids.begin() + last);
  if (!type_ids.empty() || !from.type_ids.empty()) {
    type_ids.resize(before);
    if (!from.type_ids.empty()) {
      type_ids.insert(type_ids.end(), from.type_ids.begin() + first, from.type_ids.begin() + last);
    }
    type_ids.resize(ids.size());
  }
  for (size_t i = begin; i < end; ++i) {
    starts.push_back(starts.back() + from.tokens_of(i));
  }
}

void TokenChunk::read_block(const HostedModel& model, const PromptedTexts& input, size_t number) {
  Block& block = blocks_[number];
  block.ids.clear();
  block.type_ids.clear();
  block.starts.assign(1, 0);
  block.truncated.clear();
  std::string prompted;
  const size_t first = begin_ + number * kTextsPerBlock;
  for (size_t i = first; i < std::min(end_, first + kTextsPerBlock); ++i) {
    TextItem item = text_at(input.texts, i);
    if (!input.prompt.empty()) {
      prompted.assign(input.prompt).append(item.text);
      item.text = prompted;
    }
    try {
      const bool truncated =
          append_ids(*model.file().model(), item, model.max_tokens(), {block.ids, block.type_ids});
      model.check_cut(truncated);
      if (truncated && input.long_texts == LongTexts::kLeftOut) {
        block.ids.resize(block.starts.back());
        block.type_ids.resize(std::min(block.type_ids.size(), block.starts.back()));
      }
      block.truncated.push_back(truncated);
    } catch (const TextError& error) {
      throw TextError(i, error.what());
    }
    block.starts.push_back(block.ids.size());
  }
}

size_t TokenChunk::start(size_t begin, size_t end, uint32_t most_texts) {
  begin_ = begin;
  end_ = end;
  most_texts_ = most_texts != 0 ? most_texts : kTextsPerPass;
  const size_t blocks = (end - begin + kTextsPerBlock - 1) / kTextsPerBlock;
  if (blocks_.size() < blocks) blocks_.resize(blocks);
  return blocks;
}

void TokenChunk::read(HostedModel& model, const PromptedTexts& input, size_t begin) {
  const size_t blocks = start(begin, end_of_chunk(input.texts, begin), input.texts.batch);
  Progress no_progress(nullptr, nullptr, 0);
  model.team().run(
      blocks, [&](WorkSlot&, size_t number) { read_block(model, input, number); }, no_progress);
  sort_by_length();
}

void TokenChunk::set(const TokenLists& lists) {
  const size_t blocks = start(0, lists.count(), kTextsPerPass);
  for (size_t number = 0; number < blocks; ++number) {
    TokenLists texts;
    texts.append(lists, number * kTextsPerBlock, std::min(end_, (number + 1) * kTextsPerBlock));
    const size_t count = texts.count();
    blocks_[number] = {std::move(texts.ids), std::move(texts.type_ids), std::move(texts.starts),
                       std::vector<bool>(count)};
  }
  sort_by_length();
}

void TokenChunk::sort_by_length() {
  order_.clear();
  for (size_t i = 0; i < end_ - begin_; ++i) {
    const Block& block = blocks_[i / kTextsPerBlock];
    const size_t in_block = i % kTextsPerBlock;
    order_.push_back({static_cast<uint32_t>(block.starts[in_block + 1] - block.starts[in_block]),
                      static_cast<uint32_t>(i), block.truncated[in_block]});
  }
  std::sort(order_.begin(), order_.end(), [](const Text& a, const Text& b) {
    return a.length != b.length ? a.length > b.length : a.index < b.index;
  });
}

std::vector<PassRange> TokenChunk::passes(uint32_t threads) const {
  size_t tokens_left = 0;
  for (const Text& text : order_) tokens_left += text.length;
  std::vector<PassRange> passes;
  for (size_t begin = 0; begin < order_.size() && order_[begin].length > 0;) {
    size_t budget = kTokensPerPass;
    // At most a thread's share of what is left: threads end together, and few passes are small.
    if (threads > 1) budget = std::min(budget, tokens_left / threads);
    // The first text is the longest, and the arena has room for as many of its length.
    const size_t longest = order_[begin].length;
    const size_t most = std::clamp<size_t>(budget / longest, 1, most_texts_);
    size_t end = begin;
    do {
      tokens_left -= order_[end++].length;
    } while (end < order_.size() && end - begin < most && order_[end].length > 0);
    passes.push_back({begin, end});
    begin = end;
  }
  return passes;
}

void TokenChunk::add_to(Batch& batch, const Text& text) const {
  const Block& block = blocks_[text.index / kTextsPerBlock];
  const auto start = static_cast<ptrdiff_t>(block.starts[text.index % kTextsPerBlock]);
  const auto stop = start + static_cast<ptrdiff_t>(text.length);
  batch.ids.insert(batch.ids.end(), block.ids.begin() + start, block.ids.begin() + stop);
  if (!block.type_ids.empty()) {
    batch.type_ids.insert(batch.type_ids.end(), block.type_ids.begin() + start,
                          block.type_ids.begin() + stop);
  }
  batch.lengths.push_back(text.length);
}

}  // namespace embert::hosted
