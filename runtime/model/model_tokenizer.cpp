// SPDX-License-Identifier: Apache-2.0
// The tokenizer's public functions: the model's tokenizer behind the statuses of embert.h.
#include "runtime/model/model.hpp"

namespace embert {
namespace {

embert_status to_public(TokenizerStatus status) {
  switch (status) {
    case TokenizerStatus::kOk:
      return EMBERT_STATUS_OK;
    case TokenizerStatus::kNullArgument:
      return EMBERT_STATUS_NULL_ARGUMENT;
    case TokenizerStatus::kTextTooLong:
      return EMBERT_STATUS_TOO_MANY_TOKENS;
    case TokenizerStatus::kCapacityTooSmall:
      return EMBERT_STATUS_BUFFER_TOO_SMALL;
    case TokenizerStatus::kStrideTooLarge:
    case TokenizerStatus::kSequenceTooShort:
    case TokenizerStatus::kNoSecondSequence:
      return EMBERT_STATUS_TRUNCATION;
    case TokenizerStatus::kWindowOutOfRange:
      return EMBERT_STATUS_WINDOW_OUT_OF_RANGE;
    case TokenizerStatus::kTokenOutOfRange:
      return EMBERT_STATUS_TOKEN_OUT_OF_RANGE;
    default:
      return EMBERT_STATUS_INVALID_OPTION;
  }
}

}  // namespace
}  // namespace embert

embert_tokenize_options embert_tokenize_options_default(const embert_model* model) {
  embert_tokenize_options options = {};
  if (model != nullptr)
    options.max_tokens = static_cast<int32_t>(embert::model_of(*model).header->max_tokens);
  options.truncation = EMBERT_TRUNCATION_LONGEST_FIRST;
  options.add_special_tokens = 1;
  return options;
}

embert_status embert_tokenize(const embert_model* object, const char* text, size_t text_bytes,
                              const char* pair, size_t pair_bytes,
                              const embert_tokenize_options* options, embert_tokens* encoding) {
  using namespace embert;
  if (object == nullptr || encoding == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const Model model = model_of(*object);
  if (model.has_tokenizer == 0) return EMBERT_STATUS_NO_TOKENIZER;
  const embert_tokenize_options chosen =
      options != nullptr ? *options : embert_tokenize_options_default(object);
  if (chosen.add_special_tokens > 1) return EMBERT_STATUS_INVALID_OPTION;
  const TokenizeOptions inner = {chosen.max_tokens, static_cast<Truncation>(chosen.truncation),
                                 chosen.stride, chosen.add_special_tokens != 0, chosen.window};
  Encoding result = {};
  result.capacity = encoding->capacity;
  result.ids = encoding->ids;
  result.type_ids = encoding->type_ids;
  result.byte_offsets = encoding->byte_offsets;
  result.char_offsets = encoding->char_offsets;
  result.word_ids = encoding->word_ids;
  result.sequence_ids = encoding->sequence_ids;
  const TokenizerStatus status =
      tokenize(model.tokenizer, text, text_bytes, pair, pair_bytes, inner, &result);
  encoding->length = result.length;
  encoding->windows = result.windows;
  return to_public(status);
}

embert_status embert_token(const embert_model* object, uint32_t id, const char** string,
                           size_t* bytes) {
  using namespace embert;
  if (object == nullptr || string == nullptr || bytes == nullptr)
    return EMBERT_STATUS_NULL_ARGUMENT;
  const Model model = model_of(*object);
  if (model.has_tokenizer == 0) return EMBERT_STATUS_NO_TOKENIZER;
  return to_public(tokenizer_token(model.tokenizer, id, string, bytes));
}
