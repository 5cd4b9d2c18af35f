// SPDX-License-Identifier: Apache-2.0
// Prompts from the folder into the blob, and every error with its exact message.
#include <gtest/gtest.h>

#include <cstring>

#include "converter/convert.hpp"
#include "converter/import/config/read_prompts.hpp"
#include "embert/embert.h"
#include "embert/embert_inspect.h"
#include "tests/support/error_text.hpp"
#include "tests/support/model_folder.hpp"
#include "tests/support/synthetic_blob.hpp"

namespace embert::convert {
namespace {

using test::error_text;

class PromptFile : public ::testing::Test {
 protected:
  PromptConfig read(const std::string& document) {
    folder_.write("config_sentence_transformers.json", document);
    return read_prompts(folder_.path());
  }
  std::string error(const std::string& document) {
    return error_text([&] { read(document); });
  }

  test::TempFolder folder_;
};

TEST_F(PromptFile, NoneWithoutFileOrFields) {
  EXPECT_TRUE(read_prompts(folder_.path()).texts.empty());
  for (const char* document :
       {R"({})", R"({"__version__": {"torch": "2"}, "similarity_fn_name": "cosine"})",
        R"({"prompts": {}, "default_prompt_name": null})", R"({"prompts": null})"}) {
    const PromptConfig prompts = read(document);
    EXPECT_TRUE(prompts.texts.empty()) << document;
    EXPECT_FALSE(prompts.default_name.has_value()) << document;
  }
}

TEST_F(PromptFile, NamesTextsAndDefault) {
  const PromptConfig prompts =
      read(R"({"prompts": {"query": "query: ", "document": ""}, "default_prompt_name": "query"})");
  EXPECT_EQ(prompts.texts,
            (std::map<std::string, std::string>{{"document", ""}, {"query", "query: "}}));
  EXPECT_EQ(prompts.default_name, "query");
  EXPECT_FALSE(read(R"({"prompts": {"query": "q"}})").default_name.has_value());
}

TEST_F(PromptFile, WrongFiles) {
  const std::string file = "config_sentence_transformers.json: ";
  EXPECT_EQ(error("[]"), file + "expected a JSON object, found an array of 0");
  EXPECT_EQ(error("{"),
            file +
                "not valid JSON: parse error at line 1, column 2: syntax error while "
                "parsing object key - unexpected end of input; expected string literal");
  EXPECT_EQ(error(R"({"prompts": ["query: "]})"),
            file + "prompts must be an object of names and texts, found an array of 1");
  EXPECT_EQ(error(R"({"prompts": {"query": 3}})"),
            file + "prompt \"query\" must be a string, found 3");
  EXPECT_EQ(error(R"({"prompts": {"query": null}})"),
            file + "prompt \"query\" must be a string, found null");
  EXPECT_EQ(error(R"({"prompts": {"": "query: "}})"), file + "a prompt has no name");
  EXPECT_EQ(error(R"({"prompts": {"a": "1", "a": "2"}})"),
            file + "key \"a\" is there twice; keys of one JSON object must differ");
  EXPECT_EQ(error(R"({"prompts": {"a\u0000b": "1"}})"),
            file + "name of prompt \"a?b\" has a zero byte");
  EXPECT_EQ(error(R"({"prompts": {"a": "1\u0000"}})"), file + "prompt \"a\" has a zero byte");
  EXPECT_EQ(error("{\"prompts\": {\"" + std::string(257, 'a') + "\": \"1\"}}"),
            file + "name of prompt \"" + std::string(120, 'a') +
                "...\" has 257 bytes; at most 256 are supported");
  EXPECT_EQ(error("{\"prompts\": {\"a\": \"" + std::string(4097, 'b') + "\"}}"),
            file + "prompt \"a\" has 4097 bytes; at most 4096 are supported");
  EXPECT_EQ(error("{\"prompts\": {\"" + std::string(256, 'a') + "\": \"" + std::string(4096, 'b') +
                  "\"}}"),
            "no error");
  EXPECT_EQ(error(R"({"prompts": {"b": "", "a": ""}, "default_prompt_name": "query"})"),
            file +
                "default_prompt_name \"query\" is no prompt of the file; expected one of \"a\", "
                "\"b\"");
  EXPECT_EQ(error(R"({"default_prompt_name": "query"})"),
            file + "default_prompt_name \"query\" is no prompt of the file; there are none");
  EXPECT_EQ(error(R"({"default_prompt_name": 1})"),
            file + "\"default_prompt_name\" must be a string, found 1");
  nlohmann::json many;
  for (int i = 0; i < 257; ++i) many["prompts"][std::to_string(i)] = "";
  EXPECT_EQ(error(many.dump()), file + "257 prompts; at most 256 are supported");
  many["prompts"].erase("0");
  EXPECT_EQ(error(many.dump()), "no error");
}

/// The blob of a small model with this config_sentence_transformers.json; empty: without the file.
std::vector<std::uint8_t> converted(const std::string& document) {
  const test::TempFolder folder;
  test::write_model_folder(folder.path(), {.layers = 1, .tokenizer = true});
  if (!document.empty()) folder.write("config_sentence_transformers.json", document);
  ConvertOptions options;
  options.folder = folder.path();
  options.certify = false;
  options.rounding = Rounding::kNearest;
  return convert(options).blob;
}

TEST(PromptSection, HoldsWhatTheFolderHas) {
  const test::AlignedBytes blob(
      converted(R"({"prompts": {"query": "query: ", "Ähre": "ä: ", "document": ""},
                    "default_prompt_name": "query"})"));
  embert_model model;
  ASSERT_EQ(embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model),
            EMBERT_STATUS_OK);
  embert_model_info info = {.size = sizeof(info)};
  ASSERT_EQ(embert_model_get_info(&model, &info), EMBERT_STATUS_OK);
  ASSERT_EQ(info.num_prompts, 3u);
  EXPECT_EQ(info.default_prompt, 1u);
  const char* const expected[][2] = {{"document", ""}, {"query", "query: "}, {"Ähre", "ä: "}};
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_STREQ(embert_model_prompt_name(&model, i), expected[i][0]);
    EXPECT_STREQ(embert_model_prompt_text(&model, i), expected[i][1]);
  }
}

TEST(PromptSection, ChangesNothingElse) {
  const std::vector<std::uint8_t> with = converted(R"({"prompts": {"query": "query: "}})"),
                                  without = converted(""), empty = converted(R"({"prompts": {}})");
  EXPECT_EQ(without, empty);
  const auto section = [](const std::vector<std::uint8_t>& blob, std::size_t index) {
    BlobSection entry;
    std::memcpy(&entry, blob.data() + sizeof(BlobHeader) + index * sizeof(entry), sizeof(entry));
    return entry;
  };
  BlobHeader header;
  std::memcpy(&header, without.data(), sizeof(header));
  for (std::size_t i = 0; i < header.section_count; ++i) {
    const BlobSection a = section(without, i), b = section(with, i);
    ASSERT_EQ(a.kind, b.kind);
    ASSERT_EQ(a.bytes, b.bytes);
    EXPECT_EQ(std::memcmp(without.data() + a.offset, with.data() + b.offset, a.bytes), 0) << a.kind;
  }
  const BlobSection last = section(with, header.section_count);
  EXPECT_EQ(last.kind, kSectionPrompts);
  EXPECT_EQ(last.offset + last.bytes, with.size());
}

}  // namespace
}  // namespace embert::convert
