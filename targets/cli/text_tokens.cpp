// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/text_tokens.hpp"

#include "targets/cli/model_file.hpp"

namespace embert::cli {

TextTokens tokenize_text(const embert_model& model, std::string_view text, const std::string* pair,
                         uint32_t max_tokens) {
  embert_tokenize_options options = embert_tokenize_options_default(&model);
  options.max_tokens = static_cast<int32_t>(max_tokens);
  TextTokens tokens;
  embert_encoding encoding = {};
  embert_status status = EMBERT_STATUS_OK;
  // A text that is cut fits the first time but for special tokens beyond the limit.
  for (size_t capacity = max_tokens;; capacity = encoding.length) {
    tokens.ids.resize(capacity);
    tokens.type_ids.resize(capacity);
    tokens.byte_offsets.resize(2 * capacity);
    tokens.char_offsets.resize(2 * capacity);
    tokens.word_ids.resize(capacity);
    tokens.sequence_ids.resize(capacity);
    encoding.capacity = capacity;
    encoding.ids = tokens.ids.data();
    encoding.type_ids = tokens.type_ids.data();
    encoding.byte_offsets = tokens.byte_offsets.data();
    encoding.char_offsets = tokens.char_offsets.data();
    encoding.word_ids = tokens.word_ids.data();
    encoding.sequence_ids = tokens.sequence_ids.data();
    status = embert_tokenize(&model, text.data(), text.size(), pair ? pair->data() : nullptr,
                             pair ? pair->size() : 0, &options, &encoding);
    if (status != EMBERT_STATUS_BUFFER_TOO_SMALL || encoding.length <= capacity) break;
  }
  check(status, "embert_tokenize");
  tokens.ids.resize(encoding.length);
  tokens.type_ids.resize(encoding.length);
  tokens.byte_offsets.resize(2 * encoding.length);
  tokens.char_offsets.resize(2 * encoding.length);
  tokens.word_ids.resize(encoding.length);
  tokens.sequence_ids.resize(encoding.length);
  return tokens;
}

std::string_view token_string(const embert_model& model, int32_t id) {
  const char* string = nullptr;
  size_t bytes = 0;
  check(embert_token(&model, static_cast<uint32_t>(id), &string, &bytes), "embert_token");
  return {string, bytes};
}

}  // namespace embert::cli
