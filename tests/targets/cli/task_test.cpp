// SPDX-License-Identifier: Apache-2.0
// The subcommands that decode a task, on models with random weights: keys, offsets in the text, and
// properties that hold for any weights.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/task_models.hpp"
#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the JSON of each line of stdout. Fails the test if the tool does not exit with 0.
Json json_of(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.push_back("--json");
  const ToolResult result = run_tool(std::move(arguments), input);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  Json lines = Json::array();
  for (const std::string& line : result.lines()) lines.push_back(Json::parse(line));
  return lines;
}

std::string text_out(const std::vector<std::string>& arguments, const std::string& input = "") {
  const ToolResult result = run_tool(arguments, input);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out;
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

using Keys = std::vector<std::string>;

/// Returns the code points begin .. end-1.
std::string chars_of(const std::string& text, size_t begin, size_t end) {
  std::string result;
  size_t chars = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++chars;
    if (chars > begin && chars <= end) result += c;
  }
  return result;
}

void expect_offsets(const Json& found, const std::string& piece, const std::string& text) {
  const size_t begin = found["byte_offsets"][0], end = found["byte_offsets"][1];
  EXPECT_EQ(piece, text.substr(begin, end - begin));
  EXPECT_EQ(piece, chars_of(text, found["char_offsets"][0], found["char_offsets"][1]));
}

TEST(Vectors, FormatsAndDimensionsComeFromTheSameVector) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", classifier(2));
  const Json whole = json_of({"embed", model, "hello world"})[0]["embedding"];
  ASSERT_EQ(whole.size(), 36u);
  const Json first = json_of({"embed", model, "hello world", "--dimensions", "20"})[0]["embedding"];
  ASSERT_EQ(first.size(), 20u);
  double length = 0, largest = 0;
  for (const double x : first) length += x * x;
  EXPECT_NEAR(length, 1, 1e-3);
  const double factor = first[0].get<double>() / whole[0].get<double>();
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_NEAR(first[i].get<double>(), whole[i].get<double>() * factor, 3e-4);
  }
  for (const double x : whole) largest = std::max(largest, std::fabs(x));
  const Json bytes = json_of({"embed", model, "hello world", "--format", "int8"})[0]["embedding"];
  const Json bits = json_of({"embed", model, "hello world", "--format", "bits"})[0]["embedding"];
  ASSERT_EQ(bytes.size(), 36u);
  ASSERT_EQ(bits.size(), 5u);
  for (size_t i = 0; i < 36; ++i) {
    const double x = whole[i];
    EXPECT_NEAR(bytes[i].get<double>(), x / largest * 127, 0.51);
    EXPECT_EQ((bits[i / 8].get<int>() >> (7 - i % 8)) & 1, x > 0);
  }
  EXPECT_EQ(text_out({"embed", model, "hello world", "--format", "bits"}),
            std::to_string(bits[0].get<int>()) + " " + std::to_string(bits[1].get<int>()) + " " +
                std::to_string(bits[2].get<int>()) + " " + std::to_string(bits[3].get<int>()) +
                " " + std::to_string(bits[4].get<int>()) + "\n");
}

TEST(Vectors, NormalizeMakesLengthOne) {
  const ScratchFolder scratch;
  TaskModel shape = classifier(2);
  shape.shape.normalize = 0;
  const std::string model = write_model(scratch, "m.emb", shape);
  const auto length_of = [&](const std::vector<std::string>& options) {
    std::vector<std::string> call = {"embed", model, "hello"};
    call.insert(call.end(), options.begin(), options.end());
    const Json vector = json_of(call)[0]["embedding"];
    double sum = 0;
    for (const double x : vector) sum += x * x;
    return std::sqrt(sum);
  };
  EXPECT_GT(length_of({}), 1.1);
  EXPECT_NEAR(length_of({"--normalize"}), 1, 1e-3);
  EXPECT_GT(length_of({"--dimensions", "30"}), 1.1);
  EXPECT_NEAR(length_of({"--dimensions", "30", "--normalize"}), 1, 1e-3);
}

TEST(Similarity, IsTheCosineOfTheVectors) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", classifier(2));
  const std::string a = "hello world", b = "time a b";
  const Json vectors = json_of({"embed", model, a, b});
  double dot = 0;
  for (size_t i = 0; i < 36; ++i) {
    dot += vectors[0]["embedding"][i].get<double>() * vectors[1]["embedding"][i].get<double>();
  }
  const Json line = json_of({"similarity", model, a, b})[0];
  EXPECT_EQ(keys_of(line), (Keys{"text", "pair", "cosine"}));
  EXPECT_NEAR(line["cosine"].get<double>(), dot, 1e-3);
  EXPECT_EQ(json_of({"similarity", model, b, a})[0]["cosine"], line["cosine"]);
  EXPECT_NEAR(json_of({"similarity", model, a, a})[0]["cosine"].get<double>(), 1, 1e-6);
  EXPECT_NEAR(json_of({"similarity", model, a, b, "--format", "int8"})[0]["cosine"].get<double>(),
              dot, 0.02);
  const Json bits = json_of({"similarity", model, a, b, "--format", "bits"})[0];
  EXPECT_EQ(keys_of(bits), (Keys{"text", "pair", "hamming"}));
  int different = 0;
  for (size_t i = 0; i < 36; ++i) {
    different += (vectors[0]["embedding"][i].get<double>() > 0) !=
                 (vectors[1]["embedding"][i].get<double>() > 0);
  }
  EXPECT_EQ(bits["hamming"], different);
  EXPECT_EQ(text_out({"similarity", model, a, b, "--format", "bits"}),
            std::to_string(different) + "\t" + a + "\t" + b + "\n");
}

TEST(Records, ArgumentsTabsAndJsonGiveTheSame) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", classifier(2, kTaskNextSentence));
  const std::string line = text_out({"next-sentence", model, "hello", "a \"b\""});
  const std::string json = R"({"pair": "a \"b\"", "text": "hello", "id": 7})";
  EXPECT_EQ(text_out({"next-sentence", model}, "hello\ta \"b\"\r\n"), line);
  EXPECT_EQ(text_out({"next-sentence", model, "--jsonl"}, json), line);
  EXPECT_EQ(text_out({"next-sentence", model}, ""), "");
  // Texts in JSON may contain tabs and line ends.
  const Json odd = json_of({"embed", model, "--jsonl"}, R"({"text": "a\tb\nc"})"
                                                        "\n");
  EXPECT_EQ(odd[0]["text"], "a\tb\nc");
  EXPECT_EQ(odd[0]["embedding"], json_of({"embed", model, "a b c"})[0]["embedding"]);
}

TEST(Records, ResultsBeforeABadLineAreOut) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", classifier(2, kTaskNextSentence));
  const ToolResult result = run_tool({"next-sentence", model}, "a\tb\nb\tc\nno tab\na\tb\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.lines().size(), 2u);
  EXPECT_EQ(result.err,
            "embert: stdin line 3: found 1 text, expected 2: text, pair, with a tab between "
            "them (--jsonl for texts with tabs)\n");
}

TEST(Classify, PairsAreOneTextWithSegments) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", classifier(3));
  const Json pair = json_of({"classify", model, "--pairs", "hello", "world"})[0];
  EXPECT_EQ(keys_of(pair), (Keys{"text", "pair", "tokens", "label", "score", "scores"}));
  EXPECT_EQ(pair["tokens"], 5);
  const Json joined = json_of({"classify", model, "hello [SEP] world"})[0];
  EXPECT_EQ(joined["tokens"], 5);
  EXPECT_NE(joined["score"], pair["score"]) << "the segment ids must count";
  EXPECT_EQ(json_of({"classify", model, "--pairs"}, "hello\tworld\n")[0], pair);
}

TEST(Classify, FunctionsMakeScoresOfTheSameLogits) {
  const ScratchFolder scratch;
  TaskModel shape = classifier(3);
  const std::string single = write_model(scratch, "single.emb", shape);
  shape.problem = kProblemMultiLabel;
  const std::string multi = write_model(scratch, "multi.emb", shape);
  const auto scores_of = [](const std::string& model, const std::string& function) {
    std::vector<std::string> call = {"classify", model, "hello world"};
    if (!function.empty()) call.insert(call.end(), {"--function", function});
    const Json entries = json_of(call)[0]["scores"];
    std::vector<double> scores(3);
    for (const Json& entry : entries) {
      scores[static_cast<size_t>(entry["label"].get<std::string>()[5] - '0')] = entry["score"];
    }
    return scores;
  };
  const std::vector<double> logits = scores_of(single, "none");
  const std::vector<double> softmax = scores_of(single, "softmax"),
                            sigmoid = scores_of(single, "sigmoid");
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(softmax[i], std::exp(logits[i]) / sum, 1e-6);
    EXPECT_NEAR(sigmoid[i], 1 / (1 + std::exp(-logits[i])), 1e-6);
  }
  EXPECT_EQ(scores_of(single, ""), softmax);
  EXPECT_EQ(scores_of(multi, ""), sigmoid);
}

TEST(Rerank, SortsDocumentsByTheScoreOfTheirPair) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", classifier(1));
  std::vector<std::string> documents, call = {"rerank", model, "hello"};
  std::string lines;
  for (int i = 0; i < 40; ++i) {  // more than one run takes
    documents.push_back(std::string(1, static_cast<char>('a' + i % 3)) + (i % 2 ? " world" : "") +
                        (i % 5 ? " time" : "") + (i % 7 ? " un" : ""));
    lines += documents.back() + "\n";
  }
  const Json ranked = json_of(call, lines)[0];
  EXPECT_EQ(keys_of(ranked), (Keys{"query", "documents"}));
  ASSERT_EQ(ranked["documents"].size(), 40u);
  for (size_t i = 0; i < 40; ++i) {
    const Json& entry = ranked["documents"][i];
    EXPECT_EQ(keys_of(entry), (Keys{"document", "index", "score"}));
    EXPECT_EQ(entry["document"], documents[entry["index"].get<size_t>()]);
    if (i > 0) {
      EXPECT_GE(ranked["documents"][i - 1]["score"], entry["score"]);
    }
  }
  for (const size_t i : {size_t{0}, size_t{39}}) {
    const Json& entry = ranked["documents"][i];
    EXPECT_EQ(json_of({"classify", model, "--pairs", "hello",
                       entry["document"].get<std::string>()})[0]["score"],
              entry["score"]);
  }
  call.insert(call.end(), documents.begin(), documents.end());
  EXPECT_EQ(json_of(call)[0], ranked);
  call.insert(call.end(), {"--top", "2"});
  EXPECT_EQ(json_of(call)[0]["documents"].size(), 2u);
  const std::string text = text_out(call);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;

  const std::string three = write_model(scratch, "three.emb", classifier(3));
  const Json by_label = json_of({"rerank", three, "--label", "label2", "a", "b", "hello"})[0];
  for (const Json& entry : by_label["documents"]) {
    const Json scores =
        json_of({"classify", three, "--pairs", "a", entry["document"].get<std::string>()})[0];
    for (const Json& score : scores["scores"]) {
      if (score["label"] == "label2") {
        EXPECT_EQ(score["score"], entry["score"]);
      }
    }
  }
}

TEST(Choose, ScoresAreSharesOfAllChoices) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", classifier(1, kTaskMultipleChoice));
  const Json line = json_of({"choose", model, "hello", "a", "b", "world"})[0];
  EXPECT_EQ(keys_of(line), (Keys{"prompt", "choices"}));
  ASSERT_EQ(line["choices"].size(), 3u);
  double sum = 0;
  for (const Json& choice : line["choices"]) {
    EXPECT_EQ(keys_of(choice), (Keys{"choice", "index", "score"}));
    sum += choice["score"].get<double>();
  }
  EXPECT_NEAR(sum, 1, 1e-6);
  const std::string best = line["choices"][0]["choice"];
  EXPECT_NE(text_out({"choose", model, "hello", "a", "b", "world"}).find("\t" + best + "\thello\n"),
            std::string::npos);
  EXPECT_EQ(json_of({"choose", model, "hello"}, "a\nb\nworld\n")[0], line);
  EXPECT_EQ(json_of({"choose", model}, "hello\ta\tb\tworld\n")[0], line);
  EXPECT_EQ(json_of({"choose", model, "--jsonl"},
                    R"({"prompt": "hello", "choices": ["a", "b", "world"]})")[0],
            line);
  EXPECT_EQ(json_of({"choose", model, "hello", "a"})[0]["choices"][0]["score"], 1.0);
}

TEST(NextSentence, IsTheShareOfTheFirstLabel) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", classifier(2, kTaskNextSentence));
  const Json line = json_of({"next-sentence", model, "hello", "world"})[0];
  EXPECT_EQ(keys_of(line), (Keys{"text", "pair", "score"}));
  const Json labels = json_of({"classify", model, "--pairs", "hello", "world"})[0]["scores"];
  for (const Json& label : labels) {
    if (label["label"] == "label0") {
      EXPECT_EQ(label["score"], line["score"]);
    }
  }
}

TEST(Tag, EntitiesHaveOffsetsAndWords) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", token_classifier(3));
  const std::string text = "caf\u00e9 unaffable \u4e2d\u56fd \U0001F600 times!";
  for (const char* kind : {"none", "simple", "first", "average", "max"}) {
    SCOPED_TRACE(kind);
    const Json line = json_of({"tag", model, "--aggregation", kind, text})[0];
    EXPECT_EQ(keys_of(line), (Keys{"text", "windows", "entities"}));
    EXPECT_EQ(line["windows"], 1);
    ASSERT_FALSE(line["entities"].empty());
    for (const Json& entity : line["entities"]) {
      EXPECT_EQ(keys_of(entity),
                (Keys{"label", "score", "text", "words", "byte_offsets", "char_offsets"}));
      expect_offsets(entity, entity["text"], text);
      EXPECT_LE(entity["words"][0], entity["words"][1]);
    }
  }
  const Json tokens = json_of({"tag", model, "--aggregation", "none", "unaffable"})[0]["entities"];
  ASSERT_EQ(tokens.size(), 3u);  // un ##aff ##able
  for (const Json& token : tokens) EXPECT_EQ(token["words"], Json({0, 0}));
  EXPECT_EQ(tokens[1]["byte_offsets"], Json({2, 5}));
  const Json words = json_of({"tag", model, "--aggregation", "first", "unaffable"})[0]["entities"];
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(words[0]["text"], "unaffable");
  EXPECT_EQ(json_of({"tag", model, ""})[0]["entities"], Json::array());
  const std::string plain = text_out({"tag", model, "unaffable", ""});
  EXPECT_EQ(plain.substr(plain.size() - 2), "\n\n") << "an empty line behind each text";
  EXPECT_NE(plain.find("\t0-9\tunaffable\n"), std::string::npos) << plain;
}

TEST(Tag, LongTextsAreReadInWindows) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", token_classifier(3));
  std::string text;
  for (int i = 0; i < 200; ++i) text += i % 3 ? "hello " : "unaffable ";
  const Json line = json_of({"tag", model, "--aggregation", "none", text})[0];
  // 200 words of 1 or 3 tokens: 334; windows of 30 that repeat 16 begin every 14
  EXPECT_EQ(line["windows"], 1 + (334 - 30 + 13) / 14);
  size_t covered = 0;
  for (const Json& entity : line["entities"]) {
    expect_offsets(entity, entity["text"], text);
    EXPECT_GE(entity["byte_offsets"][0], covered) << "entities in order, none twice";
    covered = entity["byte_offsets"][1];
  }
  EXPECT_EQ(line["entities"].size(), 334u);
  EXPECT_EQ(json_of({"tag", model, "--stride", "0", text})[0]["windows"], 12);
  EXPECT_EQ(json_of({"tag", model, "--window", "12", "--stride", "5", text})[0]["windows"],
            1 + (334 - 10 + 4) / 5);
}

TEST(Answer, AnswersArePartsOfTheContext) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", token_classifier(2, kTaskAnswer));
  const std::string question = "hello world", context = "\u4e2d\u56fd unaffable caf\u00e9 time.";
  const Json line = json_of({"answer", model, question, context, "--top", "5"})[0];
  EXPECT_EQ(keys_of(line), (Keys{"question", "windows", "answers"}));
  ASSERT_EQ(line["answers"].size(), 5u);
  double last = 1;
  for (const Json& answer : line["answers"]) {
    EXPECT_EQ(keys_of(answer), (Keys{"answer", "score", "byte_offsets", "char_offsets"}));
    expect_offsets(answer, answer["answer"], context);
    EXPECT_LE(answer["score"], last);
    last = answer["score"];
  }
  EXPECT_EQ(json_of({"answer", model, question, context})[0]["answers"].size(), 1u);
  const Json single =
      json_of({"answer", model, question, context, "--top", "99", "--max-answer-tokens", "1"})[0];
  EXPECT_EQ(single["answers"].size(), 6u) << "each word once";
  const Json none = json_of({"answer", model, question, context, "--top", "99",
                             "--max-answer-tokens", "1", "--allow-no-answer"})[0]["answers"];
  ASSERT_EQ(none.size(), 7u);
  int empty = 0;
  for (const Json& answer : none) empty += answer["answer"] == "";
  EXPECT_EQ(empty, 1);
  const std::string best = line["answers"][0]["answer"];
  EXPECT_NE(text_out({"answer", model}, question + "\t" + context + "\n")
                .find("\t" + best + "\t" + question + "\n"),
            std::string::npos);
}

TEST(Answer, LongContextsAreReadInWindows) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", token_classifier(2, kTaskAnswer));
  std::string context;
  for (int i = 0; i < 100; ++i) context += "a b unaffable ";
  const Json line = json_of({"answer", model, "hello", context, "--top", "3"})[0];
  // 500 tokens; [CLS] hello [SEP] ... [SEP] leaves 28, which repeat 16
  EXPECT_EQ(line["windows"], 1 + (500 - 28 + 11) / 12);
  for (const Json& answer : line["answers"]) expect_offsets(answer, answer["answer"], context);
  EXPECT_EQ(json_of({"answer", model, "hello", context, "--stride", "27"})[0]["windows"], 473);
}

TEST(FillMask, WordsOfEachMask) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", masked_language_model());
  const std::string text = "hello [MASK] a [MASK]";
  const Json line = json_of({"fill-mask", model, text, "--top", "40"})[0];
  EXPECT_EQ(keys_of(line), (Keys{"text", "tokens", "masks"}));
  EXPECT_EQ(line["tokens"], 6);
  ASSERT_EQ(line["masks"].size(), 2u);
  EXPECT_EQ(line["masks"][0]["position"], 2);
  EXPECT_EQ(line["masks"][1]["position"], 4);
  for (const Json& mask : line["masks"]) {
    ASSERT_EQ(mask["words"].size(), 40u);
    double sum = 0, last = 1;
    for (const Json& word : mask["words"]) {
      EXPECT_EQ(keys_of(word), (Keys{"word", "score", "id", "sequence"}));
      EXPECT_LE(word["score"], last);
      sum += last = word["score"];
    }
    EXPECT_NEAR(sum, 1, 1e-6);
  }
  EXPECT_EQ(json_of({"fill-mask", model, text})[0]["masks"][0]["words"].size(), 5u);
  const Json targets =
      json_of({"fill-mask", model, text, "--targets", "world,a,world"})[0]["masks"][0]["words"];
  ASSERT_EQ(targets.size(), 2u);
  for (const Json& target : targets) {
    bool found = false;
    for (const Json& word : line["masks"][0]["words"]) found = found || word == target;
    EXPECT_TRUE(found) << target.dump();
  }
  const Json alone =
      json_of({"fill-mask", model, "hello [MASK] a", "--targets", "world"})[0]["masks"];
  EXPECT_EQ(alone[0]["words"][0]["sequence"], "hello world a");
  EXPECT_EQ(run_tool({"fill-mask", model, text}).lines().size(), 2u);
}

TEST(Answer, ReadsOneContextForManyQuestions) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", token_classifier(2, kTaskAnswer));
  std::string context;
  for (int i = 0; i < 40; ++i) context += "hello world , the cat";
  const std::string file = scratch.write("context.txt", context);
  const std::vector<std::string> call = {"answer", model, "--context", file, "--top", "20"};
  const Json lines = json_of(call, "hello\nworld\n");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1]["question"], "world");
  EXPECT_GT(lines[0]["windows"], 1);
  for (size_t i = 0; i < 2; ++i) {
    const Json alone =
        json_of({"answer", model, "--top", "20", i == 0 ? "hello" : "world", context})[0];
    EXPECT_EQ(lines[i]["answers"], alone["answers"]) << "as a pair gives it";
    std::set<std::string> spans;
    for (const Json& answer : lines[i]["answers"]) spans.insert(answer["byte_offsets"].dump());
    EXPECT_EQ(spans.size(), 20u) << "each place once";
  }
  expect_refused(run_tool({"answer", model, "--context", scratch.path("none"), "hello"}), 2,
                 "none: cannot be opened");
  expect_refused(run_tool({"answer", model, "--context", scratch.write("empty", ""), "hello"}), 2,
                 "empty: has no text");
  expect_refused(run_tool({"answer", model, "--context", "-"}, "a\n"), 1,
                 "give the questions as arguments");
  EXPECT_EQ(json_of({"answer", model, "--context", "-", "--top", "20", "hello"}, context)[0],
            lines[0]);
}

TEST(Generate, GreedyTextGoesOnTokenByToken) {
  const ScratchFolder scratch;
  TaskModel shape = decoder();
  shape.shape.end_id = UINT32_MAX;
  const std::string model = write_model(scratch, "m.emb", shape);
  const Json line = json_of({"generate", model, "hello a", "--max-new-tokens", "6"})[0];
  EXPECT_EQ(keys_of(line), (Keys{"text", "generated", "ids", "log_probability", "finish"}));
  EXPECT_EQ(line["finish"], "length");
  ASSERT_EQ(line["ids"].size(), 6u);
  EXPECT_LT(line["log_probability"], 0);
  std::string prompt = "2 14 5";  // [CLS] hello a
  for (size_t i = 0; i < 6; ++i) {
    const std::string next =
        text_out({"generate", model, "--ids", prompt, "--max-new-tokens", "1"});
    EXPECT_EQ(next, std::to_string(line["ids"][i].get<int>()) + "\n");
    prompt += ' ';
    prompt.append(next, 0, next.size() - 1);
  }
  EXPECT_EQ(text_out({"generate", model, "hello a", "--max-new-tokens", "6"}),
            line["generated"].get<std::string>() + "\n");
  EXPECT_EQ(json_of({"generate", model, "", "--max-new-tokens", "3"})[0]["ids"],
            json_of({"generate", model, "--ids", "2", "--max-new-tokens", "3"})[0]["ids"])
      << "an empty prompt is the start token";
  const Json full = json_of({"generate", model, "hello", "--max-new-tokens", "99"})[0];
  EXPECT_EQ(full["finish"], "cache_full");
  EXPECT_EQ(full["ids"].size(), 31u);  // 32 positions, 2 taken, and one token more
}

/// A decoder has its KV cache of the text alone: 10 texts of 4 tokens would fill its 32 positions.
TEST(Checksum, OfADecoderDoesNotDependOnOtherTexts) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", decoder());
  const std::string alone = text_out({"checksum", model, "hello world"});
  std::vector<std::string> many(10, "hello world");
  many.insert(many.begin(), {"checksum", model});
  std::string expected;
  for (int i = 0; i < 10; ++i) expected += alone;
  EXPECT_EQ(text_out(many), expected);
}

TEST(Generate, SeedsAndBeams) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", decoder());
  const auto ids_of = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"generate", model, "hello", "world"});
    const Json lines = json_of(options);
    Json ids = Json::array();
    for (const Json& line : lines) ids.push_back(line["ids"]);
    return ids;
  };
  const Json greedy = ids_of({});
  EXPECT_EQ(ids_of({"--sample", "--top-k", "1"}), greedy);
  EXPECT_EQ(ids_of({"--sample", "--top-p", "0"}), greedy);
  EXPECT_EQ(ids_of({"--sample", "--temperature", "0.001"}), greedy);
  const Json seven = ids_of({"--sample", "--seed", "7"});
  EXPECT_EQ(ids_of({"--sample", "--seed", "7"}), seven);
  EXPECT_NE(ids_of({"--sample", "--seed", "8"}), seven);
  EXPECT_EQ(json_of({"generate", model, "world", "--sample", "--seed", "7"})[0]["ids"], seven[1])
      << "a text's tokens do not depend on the other texts";
  const auto mean_of = [&](const char* beams) {
    const Json line = json_of({"generate", model, "hello", "--beams", beams})[0];
    return line["log_probability"].get<double>() / static_cast<double>(line["ids"].size());
  };
  EXPECT_EQ(ids_of({"--beams", "1"}), greedy);
  EXPECT_GE(mean_of("8"), mean_of("1"));
}

TEST(Generate, APairReadsTheTextWithTheEncoder) {
  const ScratchFolder scratch;
  const std::string model = write_model(scratch, "m.emb", encoder_decoder());
  const Json lines = json_of({"generate", model, "hello", "world"});
  EXPECT_NE(lines[0]["log_probability"], lines[1]["log_probability"]) << "the source counts";
  EXPECT_EQ(json_of({"generate", model, "--ids", "2 14 3"})[0]["ids"], lines[0]["ids"]);
  std::string words;
  for (int i = 0; i < 100; ++i) words += "hello ";
  const Json cut = json_of({"generate", model, "--quiet", words})[0];
  EXPECT_EQ(cut["text"], words);
  EXPECT_EQ(cut.value("truncated", false), true) << "longer sources are cut";

  TaskModel bare = encoder_decoder();
  bare.has_tokenizer = false;
  const std::string without = write_model(scratch, "bare.emb", bare);
  const Json ids = json_of({"generate", without, "--ids", "2 14 3"})[0];
  EXPECT_EQ(ids["ids"], lines[0]["ids"]);
  EXPECT_TRUE(ids["generated"].is_null());
}

}  // namespace
}  // namespace embert::test
