// SPDX-License-Identifier: Apache-2.0
// prompt comes before prompt_name, and that before the model's default prompt.
#include <gtest/gtest.h>

#include "tests/targets/hosted/hosted_fixture.hpp"

namespace embert::test {
namespace {

using namespace std::string_literals;

std::vector<uint8_t> vector_of(embert_hosted* model, const std::string& text, const char* prompt,
                               const char* prompt_name) {
  embert_hosted_vector_options options = vectors_as(EMBERT_VECTOR_INT16);
  options.prompt = prompt;
  options.prompt_name = prompt_name;
  const Texts texts({text});
  return embed(model, texts.view(), options);
}

TEST(VectorPrompts, TheNearestWins) {
  const ScratchFolder scratch;
  TaskModel shape = classifier(2);
  shape.shape.optional = {prompts_section(2, 1, "passage\0a b \0query\0hello \0"s)};
  const ModelHandle model = open_model(write_model(scratch, "m.emb", shape));
  const auto plain = [&](const std::string& text) {
    return vector_of(model.get(), text, "", nullptr);
  };
  EXPECT_EQ(vector_of(model.get(), "world", nullptr, nullptr), plain("hello world"));
  EXPECT_EQ(vector_of(model.get(), "world", nullptr, "passage"), plain("a b world"));
  EXPECT_EQ(vector_of(model.get(), "world", "c ", "passage"), plain("c world"));
  EXPECT_EQ(vector_of(model.get(), "world", "", "passage"), plain("world"));
  EXPECT_NE(plain("hello world"), plain("world"));

  const Texts texts({"world"s});
  embert_hosted_vector_options options = vectors_as(EMBERT_VECTOR_INT16);
  options.prompt_name = "Query";
  std::vector<uint8_t> bytes(4096);
  const embert_hosted_texts list = texts.view();
  EXPECT_EQ(embert_hosted_embed(model.get(), &list, &options, bytes.data(), bytes.size()),
            EMBERT_HOSTED_ARGUMENT);
  EXPECT_NE(std::string(embert_hosted_error()).find("no prompt \"Query\"; it has: passage, query"),
            std::string::npos);
}

}  // namespace
}  // namespace embert::test
