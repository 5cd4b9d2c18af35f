// SPDX-License-Identifier: Apache-2.0
// verify --labelled for pairs, answers and tags: small random models are measured against their own
// answers, so that int8 is always right.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/model_folder.hpp"
#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::ordered_json;

/// A random BERT with a head, as a folder and converted.
class HeadModel {
 public:
  HeadModel(const std::string& architecture, const std::vector<std::string>& labels) {
    ModelOptions options;
    options.tokenizer = true;
    options.labels = static_cast<int>(labels.size());
    write_model_folder(folder_.path(), options);
    ModelContent content = make_model(options);
    content.config["architectures"] = {architecture};
    for (size_t i = 0; i < labels.size(); ++i) {
      content.config["id2label"][std::to_string(i)] = labels[i];
    }
    if (architecture != "BertForSequenceClassification") {
      content.erase("bert.pooler.dense.weight");
      content.erase("bert.pooler.dense.bias");
    }
    if (architecture == "BertForQuestionAnswering") {
      content.tensor("classifier.weight").name = "qa_outputs.weight";
      content.tensor("classifier.bias").name = "qa_outputs.bias";
    }
    write_model(folder_.path(), content);
    model_ = scratch_.path("model.emb");
    const ToolResult result = run_tool({"convert", folder_.path().string(), "-o", model_});
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }

  const std::string& model() const { return model_; }
  ToolResult run(const std::string& command, const std::string& input,
                 std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {command, model_, "--json"});
    return run_tool(more, input);
  }
  ToolResult verify(const std::string& labelled, std::vector<std::string> more = {}) const {
    const std::string file = scratch_.write("labelled.tsv", labelled);
    more.insert(more.begin(), {"verify", model_, folder_.path().string(), "--labelled", file});
    return run_tool(more);
  }
  Json measure(const std::string& labelled) const {
    const ToolResult result = verify(labelled, {"--json", "--max-loss", "1"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out, nullptr, false);
  }

 private:
  ScratchFolder scratch_;
  TempFolder folder_;
  std::string model_;
};

/// A text of `count` one-letter words, different for each number.
std::string letters(size_t number, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += (i > 0 ? " " : "") +
            std::string(1, static_cast<char>('a' + (number * 7 + i * i * 3 + i) % 26));
  }
  return text;
}

void expect_measured(const Json& json, const std::string& measure) {
  EXPECT_EQ(json[measure]["int8"], 1) << json;
  const double by_float = json[measure]["float32"];
  EXPECT_GT(by_float, 0.7) << json;
  EXPECT_NEAR(json["loss"].get<double>(), by_float - 1, 1e-12);
  EXPECT_LE(json["loss_interval"][0], json["loss"]);
  EXPECT_GE(json["loss_interval"][1], json["loss"]);
  EXPECT_EQ(json["verdict"], "pass");
}

TEST(VerifyTask, AnswersInWindows) {
  const HeadModel model("BertForQuestionAnswering", {"LABEL_0", "LABEL_1"});
  std::string records, labelled;
  for (size_t i = 0; i < 40; ++i) {  // longer than the model's 32 positions
    records += letters(i, 3) + "\t" + letters(100 + i, 45) + "\n";
  }
  std::istringstream lines(records);
  for (const std::string& line : model.run("answer", records).lines()) {
    std::string record;
    std::getline(lines, record);
    const Json answer = Json::parse(line);
    EXPECT_GT(answer["windows"], 1);
    labelled += record + "\t" + answer["answers"][0]["answer"].get<std::string>() + "\n";
  }
  const Json json = model.measure(labelled);
  expect_measured(json, "f1");
  EXPECT_EQ(json["exact_match"]["int8"], 1);
  EXPECT_GT(json["texts"], 40) << "windows";
  // The best of several right answers counts, and float32 answers some question in another way.
  const Json two = model.measure("b c\ta b c d e f g\tb\td e f\nb c\ta b c\ta b c\n");
  EXPECT_EQ(two["differing"].size() > 0, two["agreement"].get<double>() < 1) << two;
  // Answers are those of whole questions, not of their windows.
  EXPECT_EQ(json["answers"]["kind"], "answers");
  EXPECT_EQ(json["answers"]["count"], 40);
  EXPECT_EQ(json["answers"]["differing"], json["differing"].size());
  EXPECT_DOUBLE_EQ(json["agreement"].get<double>(),
                   1 - static_cast<double>(json["differing"].size()) / 40);
  EXPECT_EQ(model.measure("b\ta b c\ta\nb\ta b c\t\n")["compared"], "token logits") << "no answer";
}

/// CoNLL lines of texts whose words have two letters, and two tokens: each has the tag that `tag`
/// gives its first token.
std::string tagged(const HeadModel& model, const std::string& texts) {
  std::string conll = "-DOCSTART- O\n\n";
  for (const std::string& line : model.run("tag", texts, {"--aggregation", "none"}).lines()) {
    const Json answer = Json::parse(line);
    const std::string text = answer["text"];
    std::vector<std::string> tags((text.size() + 1) / 3, "O");
    for (const Json& entity : answer["entities"]) {
      const size_t begin = entity["char_offsets"][0];
      if (begin % 3 == 0) tags[begin / 3] = entity["label"];
    }
    for (size_t word = 0; word < tags.size(); ++word) {
      conll += text.substr(3 * word, 2) + " x " + tags[word] + "\n";
    }
    conll += "\n";
  }
  return conll;
}

TEST(VerifyTask, TagsInWindows) {
  const std::vector<std::string> names = {"O", "B-one", "I-one", "B-two", "I-two"};
  const HeadModel model("BertForTokenClassification", names);
  const auto words = [](size_t number, size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += (i > 0 ? " " : "") + letters(number + i, 1) + "q";
    return text + "\n";
  };
  std::string texts;
  for (size_t i = 0; i < 30; ++i) texts += words(5 * i, 12);
  const std::string conll = tagged(model, texts);
  const Json json = model.measure(conll);
  EXPECT_EQ(json["f1"]["int8"], 1);
  EXPECT_EQ(json["answers"]["kind"], "entities");
  EXPECT_GT(json["answers"]["count"], 40);
  EXPECT_EQ(json["answers"]["differing"] == 0, json["differing"].empty()) << json;
  EXPECT_LT(json["answers"]["differing"], json["answers"]["count"]);
  // Windows that overlap may differ in their middle, where `tag` takes another one.
  EXPECT_GT(model.measure(tagged(model, words(77, 60)))["f1"]["int8"], 0.7);
  EXPECT_GT(json["f1"]["float32"], 0.7);
  EXPECT_LE(json["loss"], 0);
  for (const Json& word : json["differing"]) {
    EXPECT_NE(word["float32"], word["int8"]);
    std::istringstream lines(conll);  // the line of the word has the word and its tag
    std::string line;
    for (size_t i = 0; i < word["line"].get<size_t>(); ++i) std::getline(lines, line);
    EXPECT_EQ(line, word["text"].get<std::string>() + " x " + word["right"].get<std::string>());
  }
  const ToolResult shown = model.verify(conll, {"--max-loss", "0"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_NE(shown.out.find("\nrecall       float32 "), std::string::npos) << shown.out;
}

TEST(VerifyTask, PairsOfAClassifier) {
  const HeadModel model("BertForSequenceClassification", {"no", "yes", "maybe"});
  std::string pairs, labelled;
  for (size_t i = 0; i < 40; ++i) pairs += letters(i, 5) + "\t" + letters(50 + i, 6) + "\n";
  for (const std::string& line : model.run("classify", pairs, {"--pairs"}).lines()) {
    const Json answer = Json::parse(line);
    labelled += answer["text"].get<std::string>() + "\t" + answer["pair"].get<std::string>() +
                "\t" + answer["label"].get<std::string>() + "\n";
  }
  // The random head may prefer one label throughout.
  if (labelled.find("\tno\n") == std::string::npos) labelled += "a\tb\tno\n";
  if (labelled.find("\tyes\n") == std::string::npos) labelled += "a\tb\tyes\n";
  const Json json = model.measure(labelled);
  EXPECT_GE(json["accuracy"]["int8"], 40.0 / 42);
  EXPECT_GT(json["accuracy"]["float32"], 0.7);
}

TEST(VerifyTask, ScoresOfACrossEncoder) {
  const HeadModel model("BertForSequenceClassification", {"LABEL_0"});
  std::string pairs, labelled, reversed;
  for (size_t i = 0; i < 40; ++i) pairs += letters(i, 5) + "\t" + letters(50 + i, 6) + "\n";
  const ToolResult answers = model.run("classify", pairs, {"--pairs", "--function", "none"});
  for (const std::string& line : answers.lines()) {
    const Json answer = Json::parse(line);
    const std::string both =
        answer["text"].get<std::string>() + "\t" + answer["pair"].get<std::string>() + "\t";
    labelled += both + answer["score"].dump() + "\n";
    reversed += both + Json(-answer["score"].get<double>()).dump() + "\n";
  }
  const Json json = model.measure(labelled);
  EXPECT_GT(json["spearman"]["int8"], 0.9999);
  EXPECT_GT(json["spearman"]["float32"], 0.9);
  EXPECT_EQ(json["compared"], "logits");
  EXPECT_LE(json["differing"].size(), 20u);
  EXPECT_TRUE(json["differing"][0].contains("pair"));
  EXPECT_LT(model.measure(reversed)["spearman"]["int8"], -0.9999);
  // Texts alone, where the first line has two columns.
  EXPECT_TRUE(model.measure("a\t1\nb c\t2\n").contains("spearman"));
}

TEST(VerifyTask, RefusesBadFiles) {
  const HeadModel answers("BertForQuestionAnswering", {"LABEL_0", "LABEL_1"});
  const auto refused = [](const HeadModel& model, const std::string& file,
                          const std::string& part) {
    expect_refused(model.verify(file), 2, "labelled.tsv: " + part);
  };
  refused(answers, "", "has no text");
  refused(answers, "a\tb c\tb\na\tb c\n",
          "line 2: expected question, a tab, context, a tab and an answer, and more right answers "
          "behind further tabs; found 2 columns");
  refused(answers, "a\tb c\tb\na\tb c\tb  c\n",
          "line 2: the answer \"b  c\" is not in the context");
  refused(answers, "a\tb c\tb\t\n", "line 1: an empty answer says that the context has none");
  refused(answers, "a\tb c\t\n", "no line has an answer");
  refused(answers, "\tb c\tb\n", "line 1: the question is empty");
  refused(answers, letters(1, 40) + "\tb c\tb\n", "line 1: the 43 tokens around the text");

  const HeadModel tags("BertForTokenClassification", {"O", "B-one"});
  refused(tags, "\n\n", "has no entity: each tag is O");
  refused(tags, "a\tO\nb\tO\n", "has no entity: each tag is O");
  refused(tags, "a\tB-one\n\nb\tB-two\n",
          "line 3: the model has no tag \"B-two\"; it has O, B-one");
  refused(tags, "a\tB-one\nb\n", "line 2: expected 2 columns, the word first and its tag last");
  refused(tags, "a x B-one\nb O\n", "line 2: expected 3 columns");

  const HeadModel scores("BertForSequenceClassification", {"LABEL_0"});
  refused(scores, "a\tb\t1\na\tb\tgood\n",
          "line 2: expected a score in the last column, found \"good\", which is no number");
  refused(scores, "a\tb\t1\na\t2\n",
          "line 2: expected text, a tab, its pair, a tab and a label; found 2 columns");
  refused(scores, "a\tb\t1\na\tb\tnan\n", "line 2: expected a score");
  refused(scores, "a\tb\t1\nc\td\t1\n", "all lines have the label \"1\"");
}

TEST(VerifyTask, ReadsWnut17) {
  const std::string path = EMBERT_SHARED_DIR "/data/ner/wnut17/emerging.test.annotated";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "NOT TESTED: no WNUT17 at " << path;
  std::vector<std::string> names = {"O"};
  for (const std::string kind :
       {"corporation", "creative-work", "group", "location", "person", "product"}) {
    names.push_back("B-" + kind);
    names.push_back("I-" + kind);
  }
  const HeadModel model("BertForTokenClassification", names);
  const Json json = model.measure(read_bytes(path));
  EXPECT_GE(json["texts"], 1287) << "sentences, the long ones in windows";
  // Of 32 tokens; sentences that ran into each other would leave no window with fewer.
  EXPECT_LT(json["tokens"].get<double>() / json["texts"].get<double>(), 31);
  EXPECT_TRUE(json["recall"]["int8"].is_number());
}

}  // namespace
}  // namespace embert::test
