// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/support/check_text.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/tokenizer/utf8.hpp"
#include "tests/fuzz/support/require.hpp"

namespace embert::fuzz {
namespace {

/// An allocation that ends with the text, for AddressSanitizer.
class ExactText {
 public:
  explicit ExactText(std::string_view text) : bytes_(new char[text.size()]), size_(text.size()) {
    std::copy(text.begin(), text.end(), bytes_.get());
  }
  const char* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_;
};

/// Returns the bytes at which characters begin, and the end: a part that is not UTF-8 is one
/// character.
std::vector<std::uint32_t> boundaries_of(const ExactText& text) {
  std::vector<std::uint32_t> out = {0};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  while (out.back() < text.size()) {
    out.push_back(out.back() + decode_utf8(bytes + out.back(), bytes + text.size()).bytes);
  }
  return out;
}

/// One text, or two.
struct Texts {
  ExactText first, second;
  bool is_pair;

  embert_text get() const {
    return {first.data(), first.size(), is_pair ? second.data() : nullptr,
            is_pair ? second.size() : 0};
  }
};

struct Result {
  TokenizerStatus status = TokenizerStatus::kOk;
  std::size_t length = 0;
  std::uint32_t windows = 0;
  std::vector<std::int32_t> ids, type_ids, word_ids, sequence_ids;
  std::vector<std::uint32_t> byte_offsets, char_offsets;

  bool operator==(const Result&) const = default;
};

/// with_all: all arrays, else the ids alone.
Result run(const TokenizerView& view, const embert_text& text,
           const embert_tokenize_options& options, std::size_t capacity, bool with_all) {
  Result result;
  result.ids.resize(capacity);
  embert_tokens tokens = {};
  tokens.capacity = capacity;
  tokens.ids = result.ids.data();
  if (with_all) {
    for (auto* ids : {&result.type_ids, &result.word_ids, &result.sequence_ids})
      ids->resize(capacity);
    for (auto* offsets : {&result.byte_offsets, &result.char_offsets})
      offsets->resize(2 * capacity);
    tokens.type_ids = result.type_ids.data();
    tokens.word_ids = result.word_ids.data();
    tokens.sequence_ids = result.sequence_ids.data();
    tokens.byte_offsets = result.byte_offsets.data();
    tokens.char_offsets = result.char_offsets.data();
  }
  result.status = tokenize(view, text, options, &tokens);
  result.length = tokens.length;
  result.windows = tokens.windows;
  return result;
}

void check_token(const TokenizerView& view, std::int32_t id) {
  const char* string = nullptr;
  std::size_t bytes = 0;
  require(id >= 0 && static_cast<std::uint32_t>(id) < view.header->token_count, "id of a token");
  require(tokenizer_token(view, static_cast<std::uint32_t>(id), &string, &bytes) ==
              TokenizerStatus::kOk,
          "string of a token");
  // The sanitizer sees whether the string lies in the section.
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes; ++i) sum += static_cast<std::uint8_t>(string[i]);
  require(sum <= 255 * bytes, "bytes of a token");
}

/// Checks the offsets of one text's tokens. `boundaries` are those of the text.
void check_offsets(const Result& r, std::size_t i, const std::vector<std::uint32_t>& boundaries) {
  const std::uint32_t *bytes = &r.byte_offsets[2 * i], *chars = &r.char_offsets[2 * i];
  require(bytes[0] <= bytes[1] && bytes[1] <= boundaries.back(), "offsets within the text");
  require(chars[0] <= chars[1] && chars[1] < boundaries.size(), "characters within the text");
  require(boundaries[chars[0]] == bytes[0] && boundaries[chars[1]] == bytes[1],
          "offsets in bytes are those in characters");
}

void check_result(const TokenizerView& view, const Result& r, const Texts& texts) {
  const std::vector<std::uint32_t> boundaries[] = {boundaries_of(texts.first),
                                                   boundaries_of(texts.second)};
  std::int32_t word[2] = {-1, -1};
  for (std::size_t i = 0; i < r.length; ++i) {
    check_token(view, r.ids[i]);
    const std::int32_t text = r.sequence_ids[i];
    require(text >= -1 && text <= 1, "sequence_ids");
    require(r.type_ids[i] >= 0 && r.type_ids[i] <= static_cast<std::int32_t>(kMaxTypeId),
            "type_ids");
    if (text < 0) {
      require(r.word_ids[i] == -1 && r.byte_offsets[2 * i + 1] == 0, "a token of the template");
      continue;
    }
    require(r.word_ids[i] >= word[text] && r.word_ids[i] >= 0, "words ascend");
    word[text] = r.word_ids[i];
    check_offsets(r, i, boundaries[text]);
    const bool trims = (view.header->flags & kTokenizerTrimOffsets) != 0;
    require(trims || r.byte_offsets[2 * i] < r.byte_offsets[2 * i + 1], "a token has a place");
  }
}

embert_tokenize_options options_of(const CallBytes& bytes) {
  embert_tokenize_options options = {};
  options.max_tokens = bytes.max_tokens % 32;
  options.stride = bytes.stride % 8 - 1;
  options.window = bytes.window % 8;
  options.truncation = bytes.truncation % 4;
  options.add_special_tokens = bytes.truncation / 4 % 2;
  return options;
}

/// Every call with enough room gives the same, with offsets or without; one with less room says so.
void check_call(const TokenizerView& view, const Texts& texts,
                const embert_tokenize_options& options, std::size_t capacity) {
  const embert_text text = texts.get();
  const Result asked = run(view, text, options, 0, true);
  const bool fits = asked.status == TokenizerStatus::kOk && asked.length == 0;
  if (asked.status != TokenizerStatus::kCapacityTooSmall && !fits) return;
  const Result all = run(view, text, options, asked.length, true);
  require(all.status == TokenizerStatus::kOk && all.length == asked.length, "the room asked for");
  check_result(view, all, texts);
  require(run(view, text, options, asked.length, true) == all, "the same call gives the same");
  require(run(view, text, options, asked.length, false).ids == all.ids, "ids without offsets");
  const Result small = run(view, text, options, capacity, true);
  require(small.length == all.length &&
              (small.status == TokenizerStatus::kOk) == (capacity >= all.length),
          "a call with other room");
}

/// Windows of a single text are parts of the whole.
void check_windows(const TokenizerView& view, const embert_text& text,
                   embert_tokenize_options options, const std::vector<std::int32_t>& whole) {
  if (options.max_tokens == 0 || options.stride < 0) return;
  options.truncation = EMBERT_TRUNCATION_LONGEST_FIRST;
  options.add_special_tokens = 0;
  const Result r = run(view, text, options, whole.size(), false);
  if (r.status != TokenizerStatus::kOk) return;
  const auto room = static_cast<std::size_t>(options.max_tokens);
  const std::size_t begin = options.window * (room - static_cast<std::size_t>(options.stride));
  require(begin <= whole.size() && r.length == std::min(room, whole.size() - begin), "a window");
  require(std::equal(r.ids.begin(), r.ids.begin() + static_cast<std::ptrdiff_t>(r.length),
                     whole.begin() + static_cast<std::ptrdiff_t>(begin)),
          "ids of a window");
}

}  // namespace

TextCall::TextCall(const std::uint8_t* data, std::size_t size) {
  if (size < sizeof(bytes)) return;
  std::memcpy(&bytes, data, sizeof(bytes));
  text = {reinterpret_cast<const char*>(data) + sizeof(bytes), size - sizeof(bytes)};
}

void check_text(const TokenizerView& view, const TextCall& call) {
  const bool is_pair = call.bytes.split != 0;
  const std::size_t cut = is_pair ? call.text.size() * call.bytes.split / 256 : call.text.size();
  const embert_tokenize_options options = options_of(call.bytes);
  const Texts texts = {ExactText(call.text.substr(0, cut)), ExactText(call.text.substr(cut)),
                       is_pair};
  check_call(view, texts, options, call.bytes.capacity % 64);

  const Texts single = {ExactText(call.text), ExactText({}), false};
  const embert_tokenize_options no_limits = {};
  check_call(view, single, no_limits, call.bytes.capacity);
  const std::size_t length = run(view, single.get(), no_limits, 0, false).length;
  const Result all = run(view, single.get(), no_limits, length, false);
  require(all.status == TokenizerStatus::kOk, "a text without limits");
  check_windows(view, single.get(), options, all.ids);
}

}  // namespace embert::fuzz
