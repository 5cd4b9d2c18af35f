// SPDX-License-Identifier: Apache-2.0
// Entities against pipeline('token-classification'): labels, words and offsets exact, scores within
// kScoreTolerance.
#include "embert/embert_tasks.h"
#include "runtime/tasks/token_text.hpp"
#include "tests/runtime/tasks/task_golden.hpp"
#include "tests/runtime/tasks/tiny_bert.hpp"

namespace embert::test {
namespace {

struct Names {
  std::vector<std::string> text;
  std::vector<const char*> pointers;

  explicit Names(const Json& labels) : text(labels.get<std::vector<std::string>>()) {
    for (const std::string& name : text) pointers.push_back(name.c_str());
  }
};

embert_aggregation aggregation_of(const std::string& name) {
  const char* const names[] = {"none", "simple", "first", "average", "max"};
  int index = 0;
  while (names[index] != name) ++index;
  return static_cast<embert_aggregation>(index);
}

std::vector<std::uint8_t> subwords_of(const Tokens& tokens) {
  std::vector<std::uint8_t> is_subword(tokens.ids.size());
  EXPECT_EQ(mark_subwords(task_tokenizer().view(), tokens.ids.data(), tokens.char_offsets.data(),
                          tokens.ids.size(), is_subword.data()),
            EMBERT_STATUS_OK);
  return is_subword;
}

struct Search {
  const Names& names;
  embert_aggregation aggregation;
  const char* ignored;       ///< label that is no entity, or null
  std::uint32_t window = 0;  ///< number of the window
};

/// Appends the entities of one window.
void find(const Search& search, const Tokens& tokens, const std::vector<double>& logits,
          std::vector<embert_entity>* entities) {
  const Names& names = search.names;
  const std::vector<std::int32_t> quantized = quantize_logits(logits);
  std::vector<embert_q30> scores(logits.size());
  ASSERT_EQ(embert_softmax_q30(quantized.data(), tokens.ids.size(), names.text.size(),
                               scale_of(kTestScale), scores.data()),
            EMBERT_STATUS_OK);
  const std::vector<std::uint8_t> is_subword = subwords_of(tokens);
  const embert_tag_options options = {.size = sizeof(options),
                                      .labels = names.pointers.data(),
                                      .num_labels = names.pointers.size(),
                                      .aggregation = search.aggregation,
                                      .ignored = search.ignored};
  const embert_tag_window window = {.size = sizeof(window),
                                    .scores = scores.data(),
                                    .word_ids = tokens.word_ids.data(),
                                    .byte_offsets = tokens.byte_offsets.data(),
                                    .char_offsets = tokens.char_offsets.data(),
                                    .tokens = tokens.ids.size(),
                                    .window = search.window,
                                    .is_subword = is_subword.data()};
  std::size_t count = entities->size();
  entities->resize(count + tokens.ids.size());
  ASSERT_EQ(embert_find_entities(&options, &window, entities->data(), entities->size(), &count),
            EMBERT_STATUS_OK);
  entities->resize(count);
}

/// The reference joins strings of tokens, and strings of words, by the same rule.
std::string join(const std::vector<std::string>& pieces) {
  std::string result;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string& piece = pieces[i];
    if (i > 0 && piece.starts_with("##")) {
      result += piece.substr(2);
    } else {
      const bool blank = i > 0 && std::string_view(".?!,").find(piece[0]) == std::string_view::npos;
      result += (blank ? " " : "") + piece;
    }
  }
  return result;
}

/// What the pipeline calls the word of an entity.
std::string word_of(const embert_entity& entity, const Tokens& tokens, const std::string& text,
                    embert_aggregation aggregation) {
  const std::vector<std::uint8_t> is_subword = subwords_of(tokens);
  std::vector<std::vector<std::string>> words;
  for (std::size_t i = entity.first_token; i <= entity.last_token; ++i) {
    if (tokens.word_ids[i] < 0) continue;
    const std::uint32_t id = static_cast<std::uint32_t>(tokens.ids[i]);
    const std::uint32_t begin = tokens.byte_offsets[2 * i], end = tokens.byte_offsets[2 * i + 1];
    const bool unknown = id == task_tokenizer().view().header->unk_id;
    if (words.empty() || aggregation <= EMBERT_AGGREGATION_SIMPLE || is_subword[i] == 0)
      words.emplace_back();
    words.back().push_back(unknown ? text.substr(begin, end - begin) : task_tokenizer().token(id));
  }
  std::vector<std::string> joined;
  for (const auto& word : words) joined.push_back(join(word));
  return join(joined);
}

void expect_entities(const Json& expected, const std::vector<embert_entity>& entities,
                     const Search& search, const std::vector<Tokens>& windows,
                     const std::string& text) {
  const Names& names = search.names;
  const embert_aggregation aggregation = search.aggregation;
  ASSERT_EQ(entities.size(), expected.size());
  for (std::size_t i = 0; i < entities.size(); ++i) {
    const embert_entity& entity = entities[i];
    const Json& want = expected[i];
    const Tokens& tokens = windows.at(entity.window);
    SCOPED_TRACE(want.dump());
    const char* name = names.pointers.at(entity.label);
    if (aggregation == EMBERT_AGGREGATION_NONE) {
      EXPECT_EQ(name, want["entity"].get<std::string>());
      EXPECT_EQ(entity.first_token, want["index"]);
      EXPECT_EQ(entity.last_token, want["index"]);
    } else {
      EXPECT_EQ(embert_label_group(name), want["entity_group"].get<std::string>());
    }
    expect_score(entity.score, want["score"]);
    EXPECT_EQ(entity.char_begin, want["start"]);
    EXPECT_EQ(entity.char_end, want["end"]);
    EXPECT_EQ(text.substr(entity.byte_begin, entity.byte_end - entity.byte_begin),
              char_slice(text, want["start"], want["end"]));
    EXPECT_EQ(entity.first_word, tokens.word_ids[entity.first_token]);
    EXPECT_EQ(entity.last_word, tokens.word_ids[entity.last_token]);
    EXPECT_EQ(word_of(entity, tokens, text, aggregation), want["word"].get<std::string>());
  }
}

std::vector<double> logits_of(const Json& item) {
  std::vector<double> logits;
  for (const Json& row : item["logits"]) {
    for (const Json& logit : row) logits.push_back(logit);
  }
  return logits;
}

TEST(TagGolden, EveryAggregation) {
  EMBERT_NEED_SHARED_DIR();
  const Json golden = read_task("token_classification");
  const Names names(golden["labels"]);
  int compared = 0;
  for (const Json& item : golden["items"]) {
    const std::string text = item["text"];
    SCOPED_TRACE(text);
    const Tokens tokens = task_tokenizer().encode(text, kWithSpecials);
    ASSERT_EQ(tokens.ids, item["ids"].get<std::vector<std::int32_t>>());
    ASSERT_EQ(tokens.char_offsets, item["offsets"].get<std::vector<std::uint32_t>>());
    for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
      ASSERT_EQ(tokens.word_ids[i] < 0, item["special_tokens_mask"][i] == 1);
    }
    for (const char* key : {"entities", "entities_nothing_ignored"}) {
      if (!item.contains(key)) continue;
      for (const auto& [strategy, expected] : item[key].items()) {
        SCOPED_TRACE(strategy);
        std::vector<embert_entity> entities;
        const Search search = {.names = names,
                               .aggregation = aggregation_of(strategy),
                               .ignored = key == std::string("entities") ? "O" : nullptr};
        find(search, tokens, logits_of(item), &entities);
        expect_entities(expected, entities, search, {tokens}, text);
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 200);
}

/// Where word ids and the pipeline's rule disagree: only where an accent was dropped.
TEST(TagGolden, TheReferencesWordsDifferOnlyForDroppedAccents) {
  EMBERT_NEED_SHARED_DIR();
  int different = 0;
  const Json golden = read_task("token_classification");
  for (const Json& item : golden["items"]) {
    const std::string text = item["text"];
    const Tokens tokens = task_tokenizer().encode(text, kWithSpecials);
    const std::vector<std::uint8_t> is_subword = subwords_of(tokens);
    for (std::size_t i = 1; i + 1 < tokens.ids.size(); ++i) {
      const bool same_word = tokens.word_ids[i] == tokens.word_ids[i - 1];
      if (same_word == (is_subword[i] != 0)) continue;
      ++different;
      const std::uint32_t begin = tokens.byte_offsets[2 * i], end = tokens.byte_offsets[2 * i + 1];
      const std::string piece = text.substr(begin, end - begin);
      EXPECT_TRUE(piece.find("\u0301") != std::string::npos ||
                  piece.find("\u0308") != std::string::npos)
          << piece;
    }
  }
  EXPECT_GT(different, 0);
}

TEST(TagGolden, LongTextsInOverlappingWindows) {
  EMBERT_NEED_SHARED_DIR();
  const Json golden = read_task("token_classification");
  const Names names(golden["labels"]);
  const std::string folder = shared_dir() + "/reference/decode/model/";
  const TinyBert bert(folder + "model.safetensors", folder + "head_token.safetensors", 2);
  const Json& item = golden["items"][0];
  const std::vector<double> logits = bert.token_logits(item["ids"]),
                            expected_logits = logits_of(item);
  ASSERT_EQ(logits.size(), expected_logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) ASSERT_NEAR(logits[i], expected_logits[i], 2e-5);

  for (const Json& strided : golden["strided"]) {
    const std::string text = strided["text"];
    Search search = {.names = names,
                     .aggregation = aggregation_of(strided["aggregation_strategy"]),
                     .ignored = "O"};
    SCOPED_TRACE(strided["aggregation_strategy"]);
    embert_tokenize_options cut = {.max_tokens = strided["model_max_length"],
                                   .stride = strided["stride"],
                                   .add_special_tokens = 1,
                                   .truncation = EMBERT_TRUNCATION_LONGEST_FIRST};
    std::vector<Tokens> windows;
    std::vector<embert_entity> entities;
    do {
      windows.push_back(task_tokenizer().encode(text, cut));
      ASSERT_EQ(windows.back().status, TokenizerStatus::kOk);
      search.window = cut.window;
      find(search, windows.back(), bert.token_logits(windows.back().ids), &entities);
    } while (++cut.window < windows.back().windows);
    ASSERT_GT(windows.size(), 1u);
    std::size_t count = entities.size();
    ASSERT_EQ(embert_merge_entities(entities.data(), &count), EMBERT_STATUS_OK);
    entities.resize(count);
    expect_entities(strided["entities"], entities, search, windows, text);
  }
}

}  // namespace
}  // namespace embert::test
