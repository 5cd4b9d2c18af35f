// SPDX-License-Identifier: Apache-2.0
// A task that a model or a text does not allow ends the tool with one line that names the reason.
// Texts of any bytes and any length are safe.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/task_models.hpp"
#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {
namespace {

TEST(Refusal, AModelWithoutTheHeadSaysWhatItCan) {
  const ScratchFolder scratch;
  const std::string models[] = {
      write_model(scratch, "classifier.emb", classifier(3)),
      write_model(scratch, "choice.emb", classifier(1, kTaskMultipleChoice)),
      write_model(scratch, "next.emb", classifier(2, kTaskNextSentence)),
      write_model(scratch, "tags.emb", token_classifier(3)),
      write_model(scratch, "answers.emb", token_classifier(2, kTaskAnswer)),
      write_model(scratch, "words.emb", masked_language_model()),
      write_model(scratch, "decoder.emb", decoder()),
      write_model(scratch, "pair.emb", encoder_decoder())};
  const std::string abilities[] = {"embed, similarity, classify, rerank",
                                   "embed, similarity, choose",
                                   "embed, similarity, classify, rerank, next-sentence",
                                   "embed, similarity, tag",
                                   "embed, similarity, answer",
                                   "embed, similarity, fill-mask",
                                   "embed, similarity, generate",
                                   "generate"};
  for (size_t i = 0; i < std::size(models); ++i) {
    for (const std::string command : {"embed", "similarity", "classify", "rerank", "next-sentence",
                                      "choose", "tag", "answer", "fill-mask", "generate"}) {
      SCOPED_TRACE(models[i] + " " + command);
      const std::string list = ", " + abilities[i] + ",";
      const bool can = list.find(", " + command + ",") != std::string::npos;
      // All commands take two texts; some need a label, too.
      std::vector<std::string> call = {command, models[i], "a [MASK]", "b [MASK]"};
      if (command == "rerank" && i == 0) call.insert(call.end(), {"--label", "label1"});
      if (command == "rerank" && i == 2) call.insert(call.end(), {"--label", "label0"});
      const ToolResult result = run_tool(call);
      if (can) {
        EXPECT_EQ(result.exit_code, 0) << result.err;
        EXPECT_NE(result.out, "");
      } else {
        expect_refused(result, 1, "it can do: " + abilities[i] + "\n");
      }
    }
  }
}

TEST(Refusal, ATextWithoutMaskOrContext) {
  const ScratchFolder scratch;
  const std::string words = write_model(scratch, "words.emb", masked_language_model());
  expect_refused(run_tool({"fill-mask", words, "hello"}), 1, "EMBERT_STATUS_NO_MASK_TOKEN");
  expect_refused(run_tool({"fill-mask", words, ""}), 1, "no mask token [MASK]");
  expect_refused(run_tool({"fill-mask", words}, "\n"), 2, "stdin line 1: no mask token [MASK]");
  std::string late;
  for (int i = 0; i < 40; ++i) late += "a ";
  expect_refused(run_tool({"fill-mask", words, late + "[MASK]"}), 1, "in the first 32 tokens");
  expect_refused(run_tool({"fill-mask", words, "[MASK]", "--targets", "unaffable"}), 1,
                 "this is 3");
  expect_refused(run_tool({"fill-mask", words, "[MASK]", "--targets", "zebra"}), 1, "one token");
  TaskModel no_mask = masked_language_model();
  no_mask.has_mask = false;
  expect_refused(run_tool({"fill-mask", write_model(scratch, "none.emb", no_mask), "[MASK]"}), 1,
                 "the vocabulary has no mask token");

  const std::string answers = write_model(scratch, "answers.emb", token_classifier(2, kTaskAnswer));
  expect_refused(run_tool({"answer", answers, "hello", ""}), 1, "the context is empty");
  expect_refused(run_tool({"answer", answers, "hello", " \t "}), 1, "EMBERT_STATUS_EMPTY_INPUT");
  expect_refused(run_tool({"answer", answers, "", "hello"}), 1, "the question is empty");
  expect_refused(run_tool({"answer", answers}, "hello\t\n"), 2, "line 1: the context is empty");
  expect_refused(run_tool({"answer", answers, late, "hello"}), 1, "leave it no room in 32");
  expect_refused(run_tool({"answer", answers, "a", late, "--stride", "28"}), 1,
                 "a window of 32 tokens has 28");
  expect_refused(run_tool({"answer", answers, "a", late, "--window", "33"}), 1, "32 positions");
  expect_refused(run_tool({"answer", answers, "a", late, "--window", "4"}), 1, "no room in 4");

  const std::string tags = write_model(scratch, "tags.emb", token_classifier(3));
  expect_refused(run_tool({"tag", tags, late, "--stride", "30"}), 1, "EMBERT_STATUS_TRUNCATION");
  expect_refused(run_tool({"tag", tags, late, "--window", "2"}), 1, "leave it no room in 2");
  expect_refused(run_tool({"tag", tags, "", "--window", "1"}), 1, "leave it no room in 1");

  const std::string choice = write_model(scratch, "choice.emb", classifier(1, kTaskMultipleChoice));
  expect_refused(run_tool({"choose", choice, "prompt"}, ""), 1, "EMBERT_STATUS_NO_CHOICES");
  expect_refused(run_tool({"choose", choice}, "prompt\n"), 2, "line 1: no choices");
  expect_refused(run_tool({"choose", choice, "--jsonl"}, R"({"prompt":"a","choices":[]})"), 2,
                 "line 1: no choices");

  const std::string three = write_model(scratch, "three.emb", classifier(3));
  expect_refused(run_tool({"rerank", three, "a", "b"}), 1, "which of label0, label1, label2?");
  expect_refused(run_tool({"rerank", three, "a", "b", "--label", "good"}), 1, "\"good\"");
  expect_refused(run_tool({"embed", three, "a", "--dimensions", "37"}), 1, "have 36");
  TaskModel one_segment = classifier(1);
  one_segment.shape.type_vocab_size = 1;
  const std::string flat = write_model(scratch, "flat.emb", one_segment);
  expect_refused(run_tool({"rerank", flat, "a", "b"}), 1, "EMBERT_STATUS_TYPE_OUT_OF_RANGE");
}

TEST(Refusal, PromptsThatDoNotFit) {
  const ScratchFolder scratch;
  TaskModel shape = decoder();
  shape.shape.start_id = UINT32_MAX;
  const std::string model = write_model(scratch, "m.emb", shape);
  std::string late;
  for (int i = 0; i < 40; ++i) late += "a ";
  expect_refused(run_tool({"generate", model, late}), 1, "41 tokens, the model has room for 32");
  EXPECT_EQ(run_tool({"generate", model, ""}).exit_code, 0) << "[CLS] starts";
  expect_refused(run_tool({"generate", model, "--ids", ""}), 1, "no start token");
  expect_refused(run_tool({"generate", model, "--ids", "2 x3 4"}), 1, "\"x3\" is no token id");
  expect_refused(run_tool({"generate", model, "--ids", "2 3,4"}), 1, "\"3,4\" is no token id");
  expect_refused(run_tool({"generate", model, "--ids"}, "99999999999\n"), 2, "line 1: --ids");
  expect_refused(run_tool({"generate", model, "--ids", "40"}), 1, "TOKEN_OUT_OF_RANGE");
  expect_refused(run_tool({"generate", model, "--ids", "--", "-1"}), 1, "TOKEN_OUT_OF_RANGE");
  const std::string pair = write_model(scratch, "pair.emb", encoder_decoder());
  expect_refused(run_tool({"generate", pair, "--ids", ""}), 1, "the text has no token");
  for (const char* number : {"nan", "inf", "0", "1e99", "x"}) {
    const ToolResult result =
        run_tool({"generate", model, "a", "--sample", "--temperature", number});
    EXPECT_EQ(result.exit_code, 1) << number;
  }
}

std::string nested(size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(Refusal, RecordsThatAreNone) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", classifier(2, kTaskNextSentence));
  expect_refused(run_tool({"similarity", model, "a"}), 1, "found 1 text, expected 2: text, pair");
  expect_refused(run_tool({"similarity", model, "a", "b", "c"}), 1, "found 3 texts");
  expect_refused(run_tool({"similarity", model, "--jsonl", "a", "b"}), 1, "leave out the texts");
  for (const std::string& line :
       {std::string("\n"), std::string("null\n"), std::string("[]\n"), std::string("{\n"),
        std::string("{\"text\": \"a\"} {\"text\": \"b\"}\n"), std::string("\xFF\xFE\n"),
        std::string("{\"text\": \"\xFF\", \"pair\": \"b\"}\n"), std::string(1000000, '[') + "\n",
        "{\"text\": \"a\", \"pair\": \"b\", \"id\": " + nested(100000) + "}\n",
        "{\"text\": \"a\", \"pair\": \"b\", \"id\": " + nested(64) + "}\n"}) {
    expect_refused(run_tool({"similarity", model, "--jsonl"}, line), 2,
                   "stdin line 1: is no JSON object");
  }
  for (const auto& [line, fault] : std::vector<std::pair<std::string, std::string>>{
           {"{\"text\": 'a'}", "an object: byte 10 is wrong"},
           {"{\"text\": \"a\"", "an object: byte 13 is wrong"},
           {"{\"text\": \"a\", \"n\": 1e999}", "an object: a number is out of range"}}) {
    expect_refused(run_tool({"similarity", model, "--jsonl"}, line + "\n"), 2, fault);
  }
  const auto with_keys = [](int count) {  // "text", "pair" and others
    std::string object = R"({"text": "a", "pair": "b")";
    for (int key = 2; key < count; ++key) object += ", \"" + std::to_string(key) + "\": {\"k\": 1}";
    return object + "}\n";
  };
  // Each key is compared with all before it: 100,000 would take half a minute.
  for (const int count : {1025, 100000}) {
    expect_refused(run_tool({"similarity", model, "--jsonl"}, with_keys(count)), 2,
                   "stdin line 1: is no JSON object");
  }
  EXPECT_EQ(run_tool({"similarity", model, "--jsonl"}, with_keys(1024)).err.find("JSON"),
            std::string::npos);
  const std::string deep = "{\"text\": \"a\", \"pair\": \"b\", \"id\": " + nested(63) + "}\n";
  EXPECT_EQ(run_tool({"similarity", model, "--jsonl"}, deep).err.find("JSON"), std::string::npos);
  for (const char* line : {"{}", R"({"text": 1, "pair": "b"})", R"({"text": null, "pair": "b"})"}) {
    expect_refused(run_tool({"similarity", model, "--jsonl"}, line), 2,
                   "stdin line 1: has no \"text\" that is a text");
  }
  expect_refused(run_tool({"rerank", model, "--label", "label0", "--jsonl"},
                          R"({"query": "a", "documents": "b"})"),
                 2, "has no \"documents\" that is an array");
  expect_refused(run_tool({"rerank", model, "--label", "label0", "--jsonl"},
                          R"({"query": "a", "documents": ["b", 1]})"),
                 2, "\"documents\" has something that is no text");
}

TEST(AnyBytes, EverySubcommandAnswersEveryText) {
  const ScratchFolder scratch;
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) {
    if (byte != '\n' && byte != '\t') bytes += static_cast<char>(byte);
  }
  const std::string huge =
      std::string(300000, 'a') + " " + std::string(3000, '\xE4') + " unaffable";
  std::string many;
  for (int i = 0; i < 2000; ++i) many += "unaffable ";
  const std::vector<std::pair<std::string, TaskModel>> commands = {
      {"similarity", classifier(2)},
      {"classify", classifier(2)},
      {"rerank", classifier(1)},
      {"next-sentence", classifier(2, kTaskNextSentence)},
      {"choose", classifier(1, kTaskMultipleChoice)},
      {"tag", token_classifier(3)},
      {"answer", token_classifier(2, kTaskAnswer)},
      {"generate", encoder_decoder()}};
  for (const auto& [command, shape] : commands) {
    SCOPED_TRACE(command);
    const std::string model = write_model(scratch, "m.emb", shape);
    std::string input;
    for (const std::string& text : {bytes, huge, many}) input += "hello\t" + text + "\n";
    for (const bool json : {false, true}) {
      std::vector<std::string> call = {command, model, "--quiet"};
      if (json) call.push_back("--json");
      const ToolResult result = run_tool(call, input);
      EXPECT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(result.err, "");
      if (json) {
        EXPECT_EQ(result.lines().size(), 3u);
        const bool reads_windows = command == "tag" || command == "answer";
        EXPECT_EQ(result.lines().at(2).find("\"truncated\":true") != std::string::npos,
                  !reads_windows);
      }
    }
  }
}

}  // namespace
}  // namespace embert::test
