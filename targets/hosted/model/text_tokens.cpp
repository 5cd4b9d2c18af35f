// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/model/text_tokens.hpp"

#include "embert/embert_inspect.h"
#include "embert/embert_tokenizer.h"
#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/model/model_file.hpp"

namespace embert::hosted {
namespace {

/// The first buffer for a text that is not cut; it grows if the text needs more.
constexpr size_t kFirstCapacity = 512;

void resize_tokens(TextTokens& tokens, size_t size) {
  tokens.ids.resize(size);
  tokens.type_ids.resize(size);
  tokens.byte_offsets.resize(2 * size);
  tokens.char_offsets.resize(2 * size);
  tokens.word_ids.resize(size);
  tokens.sequence_ids.resize(size);
}

embert_text text_of_item(const TextItem& item) {
  // An empty pair is a pair, so its pointer must not be null.
  return {.text = item.text.data(),
          .text_bytes = item.text.size(),
          .pair = !item.pair           ? nullptr
                  : item.pair->empty() ? ""
                                       : item.pair->data(),
          .pair_bytes = item.pair ? item.pair->size() : 0};
}

embert_tokenize_options options_for(const embert_model& model, uint32_t max_tokens) {
  embert_tokenize_options options = embert_tokenize_options_default(&model);
  options.max_tokens = static_cast<int32_t>(max_tokens);
  if (max_tokens == 0) options.truncation = EMBERT_TRUNCATION_NONE;
  return options;
}

void check_tokenize(embert_status status) {
  if (status == EMBERT_STATUS_TOO_MANY_TOKENS) {
    throw TextError(0, std::string("a text is too long for the tokenizer (") +
                           embert_status_name(status) + ")");
  }
  check(status, "embert_tokenize");
}

struct Tokenized {
  size_t tokens;
  bool truncated;
};

/// Tokenizes into buffers that set_buffers(result, capacity) makes, and makes them anew if the text
/// needs more: a text that is cut fits at once, unless its special tokens alone exceed the limit.
template <typename SetBuffers>
Tokenized tokenize_growing(const embert_model& model, const TextItem& item,
                           const embert_tokenize_options& options, const SetBuffers& set_buffers) {
  const embert_text input = text_of_item(item);
  embert_tokens result = {.size = sizeof(result)};
  embert_status status = EMBERT_STATUS_OK;
  for (size_t capacity = options.max_tokens > 0 ? static_cast<size_t>(options.max_tokens)
                                                : kFirstCapacity;
       ; capacity = result.length) {
    set_buffers(result, capacity);
    result.capacity = capacity;
    status = embert_tokenize(&model, &input, &options, &result);
    if (status != EMBERT_STATUS_BUFFER_TOO_SMALL || result.length <= capacity) break;
  }
  check_tokenize(status);
  return {result.length, result.windows > 1};
}

TextTokens tokenize_with(const embert_model& model, const TextItem& item,
                         const embert_tokenize_options& options) {
  TextTokens tokens;
  const auto set_buffers = [&](embert_tokens& result, size_t capacity) {
    resize_tokens(tokens, capacity);
    result.ids = tokens.ids.data();
    result.type_ids = tokens.type_ids.data();
    result.byte_offsets = tokens.byte_offsets.data();
    result.char_offsets = tokens.char_offsets.data();
    result.word_ids = tokens.word_ids.data();
    result.sequence_ids = tokens.sequence_ids.data();
  };
  const Tokenized result = tokenize_growing(model, item, options, set_buffers);
  resize_tokens(tokens, result.tokens);
  tokens.truncated = result.truncated;
  return tokens;
}

template <typename T>
void append_range(std::vector<T>& to, const std::vector<T>& from, size_t begin, size_t end) {
  to.insert(to.end(), from.begin() + static_cast<ptrdiff_t>(begin),
            from.begin() + static_cast<ptrdiff_t>(end));
}

}  // namespace

void TextTokens::append(const TextTokens& other, size_t begin, size_t end) {
  append_range(ids, other.ids, begin, end);
  append_range(type_ids, other.type_ids, begin, end);
  append_range(byte_offsets, other.byte_offsets, 2 * begin, 2 * end);
  append_range(char_offsets, other.char_offsets, 2 * begin, 2 * end);
  append_range(word_ids, other.word_ids, begin, end);
  append_range(sequence_ids, other.sequence_ids, begin, end);
}

TextTokens tokenize_text(const embert_model& model, const TextItem& item, uint32_t max_tokens) {
  return tokenize_with(model, item, options_for(model, max_tokens));
}

bool append_ids(const embert_model& model, const TextItem& item, uint32_t max_tokens,
                TokenSink sink) {
  const size_t start = sink.ids.size();
  const auto resize = [&](size_t size) {
    sink.ids.resize(start + size);
    if (item.pair) sink.type_ids.resize(start + size);
  };
  const auto set_buffers = [&](embert_tokens& result, size_t capacity) {
    resize(capacity);
    result.ids = sink.ids.data() + start;
    if (item.pair) result.type_ids = sink.type_ids.data() + start;
  };
  const Tokenized result =
      tokenize_growing(model, item, options_for(model, max_tokens), set_buffers);
  resize(result.tokens);
  return result.truncated;
}

std::vector<int32_t> plain_ids(const embert_model& model, std::string_view text) {
  embert_tokenize_options options = embert_tokenize_options_default(&model);
  options.max_tokens = 0;
  options.truncation = EMBERT_TRUNCATION_NONE;
  options.add_special_tokens = 0;
  return tokenize_with(model, {text, {}}, options).ids;
}

std::string_view token_string(const embert_model& model, int32_t id) {
  const char* string = nullptr;
  size_t bytes = 0;
  check(embert_token(&model, static_cast<uint32_t>(id), &string, &bytes), "embert_token");
  return {string, bytes};
}

std::string text_of(const embert_model& model, std::vector<int32_t> ids, bool skip_special) {
  embert_tokenizer_info info = {.size = sizeof(info)};
  check(embert_model_get_tokenizer(&model, &info), "embert_model_get_tokenizer");
  std::erase_if(ids, [&](int32_t id) { return static_cast<uint32_t>(id) >= info.token_count; });
  if (ids.empty()) return "";
  const embert_detokenize_options options = {
      .size = sizeof(options), .skip_special = skip_special ? 1u : 0u, .clean_up = 1};
  std::string text;
  embert_text_buffer buffer = {.bytes = 16 * ids.size()};
  embert_status status;
  do {
    text.resize(buffer.bytes);
    buffer = {.text = text.data(), .capacity = text.size()};
    status = embert_detokenize(&model, ids.data(), ids.size(), &options, &buffer);
  } while (status == EMBERT_STATUS_BUFFER_TOO_SMALL);
  check(status, "embert_detokenize");
  text.resize(buffer.bytes);
  return text;
}

}  // namespace embert::hosted
