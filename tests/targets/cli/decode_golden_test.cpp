// SPDX-License-Identifier: Apache-2.0
// From text to the answer of a task through converter, int8 model and tool, compared with the
// pipelines of transformers on the same texts in float32.
//
// Positions, offsets and texts must be equal. Scores may differ by the int8 error of the logits:
// the models have only 32 channels to average the rounding of a hidden state (cosine 0.9997 and
// up), and task heads that spread it over logits of up to +-25. Errors below are in nats. A choice
// (label, word, answer) must be the choice of float32 if float32 prefers it by more than that
// error.
//
//   compared                     bound   seen    why
//   sentence vectors, cosine     0.999   0.9997  the error of the hidden states
//   similarity                   0.01    0.006   twice the angle of a vector's error
//   logits of text_single        0.7     0.50    logits up to 14: 2 standard deviations are 2 %
//   logits of text_multi         0.8     0.61    logits up to 10, no label competes
//   logits of text_regression    0.4     0.25    logits up to 3
//   log of a token's score       0.15    0.09    logits up to 3
//   log of an answer's score     1.5     1.14    start and end: two logits up to 8 and two sums
//   log of a word's score        1.0     0.79    logits up to 25
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/targets/cli/decode_models.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::json;

// Two vectors of cosine 0.999 to float32 move their similarity by up to 0.09.
constexpr double kVectorCosine = 0.999, kSimilarity = 0.015;
constexpr double kTokenScore = 0.15, kAnswerScore = 1.5, kWordScore = 1.0;

#define EMBERT_NEED_DECODE_MODELS() \
  if (!has_decode_models()) GTEST_SKIP() << "SKIPPED: no folder " << EMBERT_SHARED_DIR

/// Runs a subcommand on JSON records and returns the JSON of each line.
std::vector<Json> run_task(std::vector<std::string> call, const std::vector<Json>& records) {
  std::string input;
  for (const Json& record : records) input += record.dump() + "\n";
  call.insert(call.end(), {"--jsonl", "--json"});
  const ToolResult result = run_tool(std::move(call), input);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<Json> lines;
  for (const std::string& line : result.lines()) lines.push_back(Json::parse(line));
  EXPECT_EQ(lines.size(), records.size());
  lines.resize(records.size());
  return lines;
}

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double dot = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) dot += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
  return dot / std::sqrt(aa * bb);
}

/// Returns the lead of the best logit over the next.
double lead_of(std::vector<double> logits) {
  std::sort(logits.rbegin(), logits.rend());
  return logits.size() < 2 ? HUGE_VAL : logits[0] - logits[1];
}

TEST(DecodeGolden, VectorsAndSimilarity) {
  EMBERT_NEED_DECODE_MODELS();
  const ScratchFolder scratch;
  const std::string model = convert_decode_model(scratch, "feature_extraction");
  const Json golden = read_decode_golden("feature_extraction");
  std::vector<Json> texts, pairs;
  for (const Json& item : golden["items"]) texts.push_back({{"text", item["text"]}});
  for (const char* pooling : {"mean", "cls"}) {
    const std::vector<Json> lines = run_task({"embed", model, "--pooling", pooling}, texts);
    for (size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(lines[i]["tokens"], golden["items"][i]["ids"].size());
      EXPECT_GE(cosine(lines[i]["embedding"], golden["items"][i][pooling]), kVectorCosine)
          << texts[i].dump();
    }
  }
  const Json& cosines = golden["cosine"];
  for (size_t a = 0; a < cosines.size(); ++a) {
    for (size_t b = 0; b < cosines.size(); ++b) {
      pairs.push_back({{"text", texts[a]["text"]}, {"pair", texts[b]["text"]}});
    }
  }
  const std::vector<Json> lines = run_task({"similarity", model}, pairs);
  for (size_t i = 0; i < lines.size(); ++i) {
    const double expected = cosines[i / cosines.size()][i % cosines.size()];
    EXPECT_NEAR(lines[i]["cosine"].get<double>(), expected, kSimilarity) << pairs[i].dump();
  }
}

void expect_labels(const Json& found, const Json& expected, const std::string& function,
                   double error) {
  std::map<std::string, double> scores;
  for (const Json& entry : found["scores"]) scores[entry["label"]] = entry["score"];
  ASSERT_EQ(scores.size(), expected.size());
  const auto logit = [](double p) { return std::log(p / (1 - p)); };
  for (const Json& entry : expected) {
    ASSERT_TRUE(scores.count(entry["label"])) << entry.dump();
    const double score = scores[entry["label"]], want = entry["score"];
    if (function == "none") {
      EXPECT_NEAR(score, want, error);
    } else if (want < 1e-6 || want > 1 - 1e-6) {
      EXPECT_NEAR(score, want, 4e-6);  // the logits are compared above; 2^-30 is too coarse
    } else if (function == "sigmoid") {
      EXPECT_NEAR(logit(score), logit(want), error);
    } else {
      EXPECT_NEAR(std::log(score), std::log(want),
                  2 * error);  // the error of a logit and of the sum
    }
  }
}

TEST(DecodeGolden, ClassifyWithEveryFunction) {
  EMBERT_NEED_DECODE_MODELS();
  const Json golden = read_decode_golden("text_classification");
  const std::map<std::string, std::pair<double, std::string>> task_heads = {
      {"text_single", {0.7, "softmax"}},
      {"text_multi", {0.8, "sigmoid"}},
      {"text_regression", {0.4, "sigmoid"}}};
  for (const auto& [head, bound] : task_heads) {
    const auto& [error, own_function] = bound;
    SCOPED_TRACE(head);
    const ScratchFolder scratch;
    const std::string model = convert_decode_model(scratch, head);
    for (const bool pairs : {false, true}) {
      std::vector<Json> records, items;
      for (const Json& item : golden["heads"][head]["items"]) {
        if (item["pair"].is_null() == pairs) continue;
        items.push_back(item);
        records.push_back({{"text", item["text"]}});
        if (pairs) records.back()["pair"] = item["pair"];
      }
      ASSERT_FALSE(items.empty());
      const Json& calls = golden["heads"][head]["calls"];
      for (size_t c = 0; c < calls.size(); ++c) {
        std::vector<std::string> call = {"classify", model};
        const Json &function = calls[c]["function_to_apply"], &top = calls[c]["top_k"];
        if (pairs) call.push_back("--pairs");
        if (!function.is_null()) call.insert(call.end(), {"--function", function});
        if (!top.is_null()) call.insert(call.end(), {"--top", top.dump()});
        const std::vector<Json> lines = run_task(call, records);
        for (size_t i = 0; i < items.size(); ++i) {
          SCOPED_TRACE(calls[c].dump() + " " + records[i].dump());
          const Json& expected = items[i]["results"][c];
          EXPECT_EQ(lines[i]["tokens"], items[i]["ids"].size());
          EXPECT_EQ(lines[i]["scores"].size(), expected.size());
          if (top.is_null()) {
            expect_labels(lines[i], expected,
                          function.is_null() ? own_function : std::string(function), error);
          }
          if (lead_of(items[i]["logits"]) > error) {
            EXPECT_EQ(lines[i]["label"], expected[0]["label"]);
          }
        }
      }
    }
  }
}

/// Returns [label, first char, last char + 1] of each entity, of the tool or of a golden file.
Json spans_of(const Json& entities, const char* label) {
  Json spans = Json::array();
  for (const Json& entity : entities) {
    const bool golden = entity.contains("start");
    spans.push_back({entity[label], golden ? entity["start"] : entity["char_offsets"][0],
                     golden ? entity["end"] : entity["char_offsets"][1]});
  }
  return spans;
}

/// The pipeline takes a word whose accent was stripped for a subword.
bool has_combining_accent(const std::string& text) {
  return text.find("\u0301") != std::string::npos || text.find("\u0308") != std::string::npos;
}

TEST(DecodeGolden, TagWithEveryAggregation) {
  EMBERT_NEED_DECODE_MODELS();
  const ScratchFolder scratch;
  const std::string model = convert_decode_model(scratch, "token");
  const Json golden = read_decode_golden("token_classification");
  std::vector<Json> records;
  for (const Json& item : golden["items"]) records.push_back({{"text", item["text"]}});
  std::map<std::string, std::vector<Json>> lines;
  for (const std::string kind : {"none", "simple", "first", "average", "max"}) {
    lines[kind] = run_task({"tag", model, "--aggregation", kind}, records);
  }
  int same_labels = 0, same_entities = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    const Json& item = golden["items"][i];
    SCOPED_TRACE(item["text"].dump());
    std::map<std::pair<int, int>, Json> found;
    for (const Json& entity : lines["none"][i]["entities"]) {
      found[{entity["char_offsets"][0], entity["char_offsets"][1]}] = entity;
    }
    bool all = true;
    for (size_t token = 0; token < item["ids"].size(); ++token) {
      if (item["special_tokens_mask"][token] == 1) continue;
      const std::vector<double> logits = item["logits"][token];
      const auto best = std::max_element(logits.begin(), logits.end());
      const Json& label = golden["labels"][static_cast<size_t>(best - logits.begin())];
      const auto entity = found.find({item["offsets"][2 * token], item["offsets"][2 * token + 1]});
      const Json got = entity == found.end() ? Json("O") : entity->second["label"];
      if (lead_of(logits) > kTokenScore) {
        EXPECT_EQ(got, label) << token;
      }
      all = all && got == label;
      if (got == "O" || got != label) continue;
      double sum = 0;
      for (const double logit : logits) sum += std::exp(logit - *best);
      EXPECT_NEAR(std::log(entity->second["score"].get<double>()), -std::log(sum), kTokenScore);
    }
    if (!all) continue;
    ++same_labels;
    // With the same labels the entities must be the same, unless scores decide.
    EXPECT_EQ(spans_of(lines["simple"][i]["entities"], "label"),
              spans_of(item["entities"]["simple"], "entity_group"));
    if (has_combining_accent(item["text"])) continue;
    EXPECT_EQ(spans_of(lines["first"][i]["entities"], "label"),
              spans_of(item["entities"]["first"], "entity_group"));
    for (const char* kind : {"average", "max"}) {
      same_entities += spans_of(lines[kind][i]["entities"], "label") ==
                       spans_of(item["entities"][kind], "entity_group");
    }
  }
  EXPECT_GE(same_labels, static_cast<int>(records.size()) * 6 / 10);
  EXPECT_GE(same_entities, same_labels * 2 * 9 / 10);
}

TEST(DecodeGolden, TagInWindows) {
  EMBERT_NEED_DECODE_MODELS();
  const ScratchFolder scratch;
  const std::string model = convert_decode_model(scratch, "token");
  const Json golden = read_decode_golden("token_classification");
  size_t same = 0, all = 0;
  for (const Json& item : golden["strided"]) {
    const Json line =
        run_task({"tag", model, "--aggregation", item["aggregation_strategy"], "--window",
                  item["model_max_length"].dump(), "--stride", item["stride"].dump()},
                 {{{"text", item["text"]}}})[0];
    EXPECT_GT(line["windows"], 1);
    const Json found = spans_of(line["entities"], "label");
    for (const Json& span : spans_of(item["entities"], "entity_group")) {
      ++all;
      same += static_cast<size_t>(std::count(found.begin(), found.end(), span));
    }
  }
  EXPECT_GE(same, all * 85 / 100);
}

TEST(DecodeGolden, AnswersOfWindows) {
  EMBERT_NEED_DECODE_MODELS();
  const ScratchFolder scratch;
  const std::string model = convert_decode_model(scratch, "question");
  int answers = 0, same_answers = 0;
  const Json golden = read_decode_golden("question_answering");
  for (const Json& item : golden["items"]) {
    const std::string context = item["context"];
    SCOPED_TRACE(item["question"].dump());
    for (const Json& result : item["results"]) {
      if (result["align_to_words"] == false) continue;  // the tool always widens to words
      std::vector<std::string> call = {"answer",
                                       model,
                                       "--window",
                                       item["max_seq_len"].dump(),
                                       "--stride",
                                       item["doc_stride"].dump(),
                                       "--top",
                                       result["top_k"].dump(),
                                       "--max-answer-tokens",
                                       result["max_answer_len"].dump()};
      if (result["handle_impossible_answer"] == true) call.push_back("--allow-no-answer");
      const Json line = run_task(call, {{{"question", item["question"]}, {"context", context}}})[0];
      EXPECT_EQ(line["windows"], item["windows"].size());
      ASSERT_EQ(line["answers"].size(), result["answers"].size());
      std::map<std::pair<int, int>, Json> found;
      for (const Json& answer : line["answers"]) {
        const size_t begin = answer["byte_offsets"][0], end = answer["byte_offsets"][1];
        EXPECT_EQ(answer["answer"], context.substr(begin, end - begin));
        const int char_begin = answer["char_offsets"][0], char_end = answer["char_offsets"][1];
        found.emplace(std::make_pair(char_begin, char_end), answer);
      }
      const Json& expected = result["answers"];
      for (const Json& answer : expected) {
        const auto same = found.find({answer["start"], answer["end"]});
        ++answers;
        if (same == found.end()) continue;
        ++same_answers;
        EXPECT_EQ(same->second["answer"], answer["answer"]);
        EXPECT_NEAR(std::log(same->second["score"].get<double>()),
                    std::log(answer["score"].get<double>()), kAnswerScore);
      }
      if (expected.size() > 1 && expected[0]["score"].get<double>() >
                                     expected[1]["score"].get<double>() * std::exp(kAnswerScore)) {
        EXPECT_EQ(line["answers"][0]["answer"], expected[0]["answer"]);
      }
    }
  }
  EXPECT_GE(same_answers, answers * 8 / 10);
}

void expect_words(const Json& found, const Json& expected) {
  ASSERT_GE(found.size(), expected.size());
  std::map<int, Json> words;
  for (const Json& word : found) words[word["id"]] = word;
  for (const Json& want : expected) {
    SCOPED_TRACE(want.dump());
    ASSERT_TRUE(words.count(want["token"]));
    const Json& word = words[want["token"]];
    EXPECT_EQ(word["word"], want["token_str"]);
    EXPECT_EQ(word["sequence"], want["sequence"]);
    EXPECT_NEAR(std::log(word["score"].get<double>()), std::log(want["score"].get<double>()),
                kWordScore);
  }
}

TEST(DecodeGolden, WordsOfMasks) {
  EMBERT_NEED_DECODE_MODELS();
  const ScratchFolder scratch;
  const std::string model = convert_decode_model(scratch, "fill_mask");
  const Json golden = read_decode_golden("fill_mask");
  std::vector<Json> records;
  for (const Json& item : golden["items"]) records.push_back({{"text", item["text"]}});
  const std::vector<Json> lines = run_task({"fill-mask", model, "--top", "100"}, records);
  int masks = 0, same_best = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    const Json& item = golden["items"][i];
    SCOPED_TRACE(item["text"].dump());
    EXPECT_EQ(lines[i]["tokens"], item["ids"].size());
    ASSERT_EQ(lines[i]["masks"].size(), item["masks"].size());
    for (size_t m = 0; m < item["masks"].size(); ++m) {
      const Json& found = lines[i]["masks"][m];
      EXPECT_EQ(found["position"], item["masks"][m]["position"]);
      expect_words(found["words"], item["results"][m]);
      const bool same = found["words"][0]["id"] == item["masks"][m]["top_ids"][0];
      if (lead_of(item["masks"][m]["top_logits"]) > kWordScore) {
        EXPECT_TRUE(same);
      }
      ++masks;
      same_best += same;
    }
  }
  EXPECT_GE(same_best, masks * 9 / 10);

  const Json& targets = golden["targets"];
  std::string words;
  for (const std::string word : targets["targets"]) words += (words.empty() ? "" : ",") + word;
  const Json line =
      run_task({"fill-mask", model, "--targets", words}, {{{"text", targets["text"]}}})[0];
  EXPECT_EQ(line["masks"][0]["words"].size(), targets["results"].size());
  expect_words(line["masks"][0]["words"], targets["results"]);
}

}  // namespace
}  // namespace embert::test
