// SPDX-License-Identifier: Apache-2.0
// The functions of embert_tokenizer.h that make ids: the model's tokenizer with public statuses.
#include "runtime/model/model.hpp"
#include "runtime/model/struct_size.hpp"

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

embert_tokenize_options run_tokenize_options(uint32_t max_tokens) {
  return {.size = sizeof(embert_tokenize_options),
          .max_tokens = static_cast<int32_t>(max_tokens),
          .add_special_tokens = 1,
          .truncation = EMBERT_TRUNCATION_LONGEST_FIRST};
}

}  // namespace embert

embert_status embert_tokenize_options_init(const embert_model* model,
                                           embert_tokenize_options* options) {
  using namespace embert;
  if (options == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const uint32_t no_limit = 0;
  return init_struct(
      run_tokenize_options(model != nullptr ? model_of(*model).header->max_tokens : no_limit),
      options);
}

embert_status embert_tokenize(const embert_model* object, const embert_text* text,
                              const embert_tokenize_options* options, embert_tokens* tokens) {
  using namespace embert;
  if (object == nullptr || text == nullptr || tokens == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  embert_tokens results;
  embert_status status = read_struct(*tokens, &results);
  if (status != EMBERT_STATUS_OK) return status;
  embert_tokenize_options chosen = embert_tokenize_options_default(object);
  if (options != nullptr) status = read_struct(*options, &chosen);
  if (status != EMBERT_STATUS_OK) return status;
  const Model model = model_of(*object);
  if (model.has_tokenizer == 0) return EMBERT_STATUS_NO_TOKENIZER;
  if (chosen.add_special_tokens > 1 || chosen.reserved != 0) return EMBERT_STATUS_INVALID_OPTION;
  const TokenizerStatus found = tokenize(model.tokenizer, *text, chosen, &results);
  tokens->length = results.length;
  tokens->windows = results.windows;
  return to_public(found);
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
