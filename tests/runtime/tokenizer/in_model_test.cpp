// SPDX-License-Identifier: Apache-2.0
// A sound tokenizer section in a blob whose model it does not fit, and the public functions on one
// that does.
#include <gtest/gtest.h>

#include <cstring>

#include "embert/embert_inspect.h"
#include "embert/embert_tokenizer.h"
#include "tests/runtime/tokenizer/tokenizer_harness.hpp"
#include "tests/support/synthetic_blob.hpp"

namespace embert::test {
namespace {

std::vector<std::uint8_t> small_section(std::uint32_t type_id) {
  convert::TokenizerSpec spec = small_spec();
  for (convert::TemplatePieceSpec& piece : spec.single) piece.type_id = type_id;
  return write_tokenizer_section(spec);
}

embert_status open(std::uint32_t vocab_size, std::uint32_t types, std::uint32_t type_id,
                   AlignedBytes& blob, embert_model& model) {
  SyntheticModel shape;
  shape.vocab_size = vocab_size;
  shape.type_vocab_size = types;
  blob = AlignedBytes(make_synthetic_blob(shape, small_section(type_id)));
  return embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model);
}

TEST(TokenizerInModel, MustFitTheModel) {
  AlignedBytes blob;
  embert_model model;
  EXPECT_EQ(open(30, 2, 0, blob, model), EMBERT_STATUS_OK);
  EXPECT_EQ(open(29, 2, 0, blob, model),
            EMBERT_STATUS_BLOB_TOKENIZER);  // a token without an embedding
  EXPECT_EQ(open(30, 2, 2, blob, model),
            EMBERT_STATUS_BLOB_TOKENIZER);                   // a type without an embedding
  EXPECT_EQ(open(30, 1, 0, blob, model), EMBERT_STATUS_OK);  // single texts run, pairs do not
}

TEST(TokenizerInModel, PublicFunctions) {
  AlignedBytes blob;
  embert_model model;
  ASSERT_EQ(open(30, 2, 0, blob, model), EMBERT_STATUS_OK);
  std::int32_t ids[8];
  const embert_text text = {.text = "Hellos", .text_bytes = 6};
  const embert_text null_text = {.text = nullptr, .text_bytes = 6};
  embert_tokens tokens = {.size = sizeof(tokens)};
  tokens.capacity = 8;
  tokens.ids = ids;
  ASSERT_EQ(embert_tokenize(&model, &text, nullptr, &tokens), EMBERT_STATUS_OK);
  ASSERT_EQ(tokens.length, 4u);
  EXPECT_EQ(std::vector<std::int32_t>(ids, ids + 4), (std::vector<std::int32_t>{2, 14, 25, 3}));
  tokens.capacity = 3;
  EXPECT_EQ(embert_tokenize(&model, &text, nullptr, &tokens), EMBERT_STATUS_BUFFER_TOO_SMALL);
  EXPECT_EQ(tokens.length, 4u);
  embert_tokenize_options options = embert_tokenize_options_default(&model);
  options.window = 1;
  EXPECT_EQ(embert_tokenize(&model, &text, &options, &tokens), EMBERT_STATUS_WINDOW_OUT_OF_RANGE);
  EXPECT_EQ(tokens.windows, 1u);
  embert_tokenizer_info info = {.size = sizeof(info)};
  ASSERT_EQ(embert_model_get_tokenizer(&model, &info), EMBERT_STATUS_OK);
  EXPECT_EQ(info.type, EMBERT_TOKENIZER_WORDPIECE);
  options.window = 0;
  options.max_tokens = 3;
  options.stride = 5;
  EXPECT_EQ(embert_tokenize(&model, &text, &options, &tokens), EMBERT_STATUS_TRUNCATION);
  options.stride = -1;
  EXPECT_EQ(embert_tokenize(&model, &text, &options, &tokens), EMBERT_STATUS_INVALID_OPTION);
  options = embert_tokenize_options_default(&model);
  options.add_special_tokens = 2;  // 0 and 1 have a meaning
  EXPECT_EQ(embert_tokenize(&model, &text, &options, &tokens), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(embert_tokenize(&model, &null_text, nullptr, &tokens), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_tokenize(nullptr, &text, nullptr, &tokens), EMBERT_STATUS_NULL_ARGUMENT);
  const char* string = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(embert_token(&model, 25, &string, &bytes), EMBERT_STATUS_OK);
  EXPECT_EQ(std::string(string, bytes), "##s");
  EXPECT_EQ(embert_token(&model, 30, &string, &bytes), EMBERT_STATUS_TOKEN_OUT_OF_RANGE);
}

}  // namespace
}  // namespace embert::test
