// SPDX-License-Identifier: Apache-2.0
// Entities from the scores of tokens: grouping, words, windows, what callers get wrong.
#include <gtest/gtest.h>

#include <string>

#include "embert/embert_tasks.h"

#include "tests/runtime/tasks/task_numbers.hpp"

namespace embert::test {
namespace {

enum Label : std::uint32_t { kO, kBPerson, kIPerson, kBPlace, kIPlace, kLabels };
const char* const kNames[kLabels] = {"O", "B-person", "I-person", "B-place", "I-place"};

/// A text of four characters (six bytes) a token. A token's scores are `score` for its label and
/// the rest for O, or as given.
struct TagCase {
  std::vector<embert_q30> scores;
  std::vector<std::int32_t> word_ids;
  std::vector<std::uint8_t> is_subword;
  std::vector<std::uint32_t> bytes, chars;

  void add(std::int32_t word, std::vector<double> token_scores) {
    const std::uint32_t at = static_cast<std::uint32_t>(word_ids.size());
    for (const double score : token_scores) scores.push_back(q30(score));
    word_ids.push_back(word);
    bytes.insert(bytes.end(), {6 * at, 6 * at + 5});
    chars.insert(chars.end(), {4 * at, 4 * at + 3});
  }
  void add(std::int32_t word, std::uint32_t label, double score) {
    std::vector<double> token_scores(kLabels);
    token_scores[kO] = 1 - score;
    token_scores[label] = score;
    add(word, token_scores);
  }
  embert_tag_window window() const {
    return {.size = sizeof(embert_tag_window),
            .scores = scores.data(),
            .word_ids = word_ids.data(),
            .byte_offsets = bytes.data(),
            .char_offsets = chars.data(),
            .tokens = word_ids.size(),
            .window = 3,
            .is_subword = is_subword.empty() ? nullptr : is_subword.data()};
  }
};

embert_tag_options options_of(embert_aggregation aggregation) {
  return {.size = sizeof(embert_tag_options),
          .labels = kNames,
          .num_labels = kLabels,
          .aggregation = aggregation,
          .ignored = "O"};
}

std::vector<embert_entity> find(const TagCase& text, const embert_tag_options& options) {
  std::vector<embert_entity> entities(text.word_ids.size());
  std::size_t count = 0;
  const embert_tag_window window = text.window();
  EXPECT_EQ(embert_find_entities(&options, &window, entities.data(), entities.size(), &count),
            EMBERT_STATUS_OK);
  entities.resize(count);
  return entities;
}

/// "label@first-last:percent" of each.
std::string brief(const std::vector<embert_entity>& entities) {
  std::string result;
  for (const embert_entity& entity : entities) {
    if (!result.empty()) result += ' ';
    result += std::string(kNames[entity.label]) + "@" + std::to_string(entity.first_token) + "-" +
              std::to_string(entity.last_token) + ":" +
              std::to_string(std::lround(real(entity.score) * 100));
  }
  return result;
}

std::string brief(const TagCase& text, embert_aggregation aggregation) {
  return brief(find(text, options_of(aggregation)));
}

TEST(Tag, NoneGivesEachToken) {
  TagCase text;
  text.add(-1, kBPlace, 0.9);
  text.add(0, kBPerson, 0.9);
  text.add(0, kIPerson, 0.8);
  text.add(1, kO, 1.0);
  text.add(2, kIPlace, 0.7);
  text.add(-1, kBPlace, 0.9);
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_NONE), "B-person@1-1:90 I-person@2-2:80 I-place@4-4:70");
}

TEST(Tag, SimpleGroupsNeighboursOfAKind) {
  TagCase text;
  text.add(0, kIPerson, 0.9);  // I begins one where nothing goes before
  text.add(1, kIPerson, 0.8);
  text.add(2, kBPerson, 0.6);  // B always begins one
  text.add(3, kIPerson, 0.8);
  text.add(4, kIPlace, 0.9);  // another kind
  text.add(5, kO, 1.0);
  text.add(6, kIPlace, 0.7);
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_SIMPLE),
            "I-person@0-1:85 B-person@2-3:70 I-place@4-4:90 I-place@6-6:70");
}

TEST(Tag, WordsTakeOneLabel) {
  TagCase text;
  text.add(0, {0.1, 0.5, 0.1, 0.3, 0.0});
  text.add(0, {0.1, 0.0, 0.1, 0.8, 0.0});
  text.add(0, {0.6, 0.1, 0.3, 0.0, 0.0});
  text.add(1, {0.9, 0.1, 0.0, 0.0, 0.0});
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_FIRST), "B-person@0-2:50");
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_MAX), "B-place@0-2:80");
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_AVERAGE), "B-place@0-2:37");
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_SIMPLE), "B-person@0-0:50 B-place@1-1:80");
}

TEST(Tag, TiesGoToTheFirst) {
  TagCase text;
  text.add(0, {0.0, 0.5, 0.5, 0.0, 0.0});
  text.add(0, {0.0, 0.0, 0.5, 0.5, 0.0});
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_FIRST), "B-person@0-1:50");
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_MAX), "B-person@0-1:50");
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_AVERAGE), "I-person@0-1:50");
  TagCase even;
  even.add(0, {0.0, 0.5, 0.0, 0.5, 0.0});
  even.add(0, {0.0, 0.5, 0.0, 0.5, 0.0});
  EXPECT_EQ(brief(even, EMBERT_AGGREGATION_AVERAGE), "B-person@0-1:50");
}

TEST(Tag, WordsAreGroupedLikeTokens) {
  TagCase text;
  text.add(0, kBPerson, 0.9);
  text.add(0, kIPlace, 0.6);
  text.add(1, kIPerson, 0.7);
  text.add(1, kIPerson, 0.1);
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_FIRST),
            "B-person@0-3:80");  // mean of words, not of tokens
}

TEST(Tag, MeansAreRounded) {
  const char* const name = "x";
  const embert_q30 scores[] = {1, 2};
  const std::int32_t words[] = {0, 1}, one_word[] = {0, 0};
  const std::uint32_t offsets[] = {0, 1, 1, 2};
  embert_tag_window window = {.size = sizeof(window),
                              .scores = scores,
                              .word_ids = words,
                              .byte_offsets = offsets,
                              .char_offsets = offsets,
                              .tokens = 2};
  embert_tag_options options = {.size = sizeof(options),
                                .labels = &name,
                                .num_labels = 1,
                                .aggregation = EMBERT_AGGREGATION_SIMPLE};
  embert_entity entity;
  std::size_t count = 0;
  ASSERT_EQ(embert_find_entities(&options, &window, &entity, 1, &count), EMBERT_STATUS_OK);
  EXPECT_EQ(entity.score, 2u);
  options.aggregation = EMBERT_AGGREGATION_AVERAGE;
  window.word_ids = one_word;
  count = 0;
  ASSERT_EQ(embert_find_entities(&options, &window, &entity, 1, &count), EMBERT_STATUS_OK);
  EXPECT_EQ(entity.score, 2u);
}

TEST(Tag, SubwordsAsTheCallerSays) {
  TagCase text;
  text.add(0, kBPerson, 0.9);
  text.add(1, kBPlace, 0.9);
  text.add(1, kBPlace, 0.8);
  text.is_subword = {1, 1, 0};  // the first of all begins a word whatever is said
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_FIRST), "B-person@0-1:90 B-place@2-2:80");
}

TEST(Tag, ASpecialTokenEndsAWord) {
  TagCase text;
  text.add(0, kBPerson, 0.9);
  text.add(-1, kBPlace, 1.0);
  text.add(0, kIPerson, 0.7);  // word 0 of the second text
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_FIRST), "B-person@0-2:80");
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_AVERAGE), "B-person@0-2:80");
  text.is_subword = {0, 0, 1};  // unless the caller says that the word goes on
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_AVERAGE), "B-person@0-2:45");
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_MAX), "B-person@0-2:90");
}

TEST(Tag, OffsetsOfAnEntity) {
  TagCase text;
  text.add(-1, kO, 1.0);
  text.add(7, kBPlace, 0.9);
  text.add(8, kIPlace, 0.9);
  const embert_entity entity = find(text, options_of(EMBERT_AGGREGATION_SIMPLE)).at(0);
  EXPECT_EQ(entity.label, kBPlace);
  EXPECT_EQ(entity.window, 3u);
  EXPECT_EQ(entity.first_token, 1u);
  EXPECT_EQ(entity.last_token, 2u);
  EXPECT_EQ(entity.first_word, 7);
  EXPECT_EQ(entity.last_word, 8);
  EXPECT_EQ(entity.byte_begin, 6u);
  EXPECT_EQ(entity.byte_end, 17u);
  EXPECT_EQ(entity.char_begin, 4u);
  EXPECT_EQ(entity.char_end, 11u);
}

TEST(Tag, WhatIsIgnored) {
  TagCase text;
  text.add(0, kBPlace, 0.9);
  text.add(1, kO, 1.0);
  embert_tag_options options = options_of(EMBERT_AGGREGATION_SIMPLE);
  options.ignored = nullptr;
  EXPECT_EQ(brief(find(text, options)), "B-place@0-0:90 O@1-1:100");
  options.ignored = "place";
  EXPECT_EQ(brief(find(text, options)), "O@1-1:100");
  options.ignored = "plac";
  EXPECT_EQ(brief(find(text, options)), "B-place@0-0:90 O@1-1:100");
  options.aggregation = EMBERT_AGGREGATION_NONE;
  options.ignored = "place";
  EXPECT_EQ(brief(find(text, options)), "B-place@0-0:90 O@1-1:100");
  options.ignored = "B-place";
  EXPECT_EQ(brief(find(text, options)), "O@1-1:100");
}

TEST(Tag, GroupsOfLabels) {
  EXPECT_STREQ(embert_label_group("B-person"), "person");
  EXPECT_STREQ(embert_label_group("I-creative-work"), "creative-work");
  EXPECT_STREQ(embert_label_group("O"), "O");
  EXPECT_STREQ(embert_label_group("a-b"), "b");
  EXPECT_STREQ(embert_label_group(""), "");
  EXPECT_EQ(embert_label_group(nullptr), nullptr);
}

TEST(Tag, NamesWithoutPrefixGoOn) {
  const char* const names[] = {"O", "person", "B-person", "B", "I-"};
  TagCase text;
  text.add(0, 1, 0.9);
  text.add(1, 1, 0.9);
  text.add(2, 2, 0.9);
  text.add(3, 1, 0.9);
  text.add(4, 3, 0.9);
  text.add(5, 4, 0.9);
  embert_tag_options options = options_of(EMBERT_AGGREGATION_SIMPLE);
  options.labels = names;
  options.num_labels = 5;
  std::vector<std::uint32_t> firsts;
  for (const embert_entity& entity : find(text, options)) firsts.push_back(entity.first_token);
  EXPECT_EQ(firsts, (std::vector<std::uint32_t>{0, 2, 4, 5}));
}

TEST(Tag, RoomIsReported) {
  TagCase text;
  text.add(0, kBPlace, 0.9);
  text.add(1, kBPlace, 0.8);
  text.add(2, kBPlace, 0.7);
  const embert_tag_options options = options_of(EMBERT_AGGREGATION_SIMPLE);
  const embert_tag_window window = text.window();
  embert_entity entities[6] = {};
  std::size_t count = 0;
  EXPECT_EQ(embert_find_entities(&options, &window, entities, 2, &count),
            EMBERT_STATUS_BUFFER_TOO_SMALL);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(entities[1].first_token, 1u);
  EXPECT_EQ(entities[2].score, 0u);
  EXPECT_EQ(embert_find_entities(&options, &window, entities, 2, &count),
            EMBERT_STATUS_BUFFER_TOO_SMALL);
  EXPECT_EQ(count, 6u);
  count = 0;
  EXPECT_EQ(embert_find_entities(&options, &window, entities, 6, &count), EMBERT_STATUS_OK);
  EXPECT_EQ(embert_find_entities(&options, &window, entities, 6, &count), EMBERT_STATUS_OK);
  EXPECT_EQ(count, 6u);
  EXPECT_EQ(entities[4].first_token, 1u);
}

TEST(Tag, OnlySpecialTokens) {
  TagCase text;
  text.add(-1, kBPlace, 0.9);
  text.add(-1, kBPlace, 0.9);
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_NONE), "");
  EXPECT_EQ(brief(text, EMBERT_AGGREGATION_MAX), "");
}

TEST(Tag, BadArguments) {
  TagCase text;
  text.add(0, kBPlace, 0.9);
  embert_entity entities[1];
  std::size_t count = 0;
  const embert_tag_options good = options_of(EMBERT_AGGREGATION_SIMPLE);
  const embert_tag_window window = text.window();
  const auto with_options = [&](void (*change)(embert_tag_options&)) {
    embert_tag_options options = good;
    change(options);
    return embert_find_entities(&options, &window, entities, 1, &count);
  };
  const auto with_window = [&](void (*change)(embert_tag_window&)) {
    embert_tag_window changed = window;
    change(changed);
    return embert_find_entities(&good, &changed, entities, 1, &count);
  };
  EXPECT_EQ(embert_find_entities(nullptr, &window, entities, 1, &count),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_find_entities(&good, nullptr, entities, 1, &count), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_find_entities(&good, &window, nullptr, 1, &count), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_find_entities(&good, &window, entities, 1, nullptr),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(with_options([](embert_tag_options& o) { o.labels = nullptr; }),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(with_options([](embert_tag_options& o) {
              static const char* const names[kLabels] = {"O", "a", nullptr, "b", "c"};
              o.labels = names;
            }),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(with_options([](embert_tag_options& o) { o.num_labels = 0; }),
            EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(with_options(
                [](embert_tag_options& o) { o.aggregation = static_cast<embert_aggregation>(5); }),
            EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(with_window([](embert_tag_window& w) { w.scores = nullptr; }),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(with_window([](embert_tag_window& w) { w.word_ids = nullptr; }),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(with_window([](embert_tag_window& w) { w.byte_offsets = nullptr; }),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(with_window([](embert_tag_window& w) { w.char_offsets = nullptr; }),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(with_window([](embert_tag_window& w) { w.tokens = 0; }), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(count, 0u);
}

embert_entity entity_at(std::uint32_t begin, std::uint32_t end, double score) {
  embert_entity entity = {};
  entity.char_begin = begin;
  entity.char_end = end;
  entity.score = q30(score);
  return entity;
}

std::string merged(std::vector<embert_entity> entities) {
  entities.reserve(1);  // no list is not an empty list
  std::size_t count = entities.size();
  EXPECT_EQ(embert_merge_entities(entities.data(), &count), EMBERT_STATUS_OK);
  std::string result;
  for (std::size_t i = 0; i < count; ++i) {
    result += std::to_string(entities[i].char_begin) + "-" + std::to_string(entities[i].char_end) +
              ":" + std::to_string(std::lround(real(entities[i].score) * 10)) + " ";
  }
  return result;
}

TEST(Tag, MergeSortsAndResolvesOverlaps) {
  EXPECT_EQ(merged({entity_at(10, 15, 0.5), entity_at(0, 5, 0.4)}), "0-5:4 10-15:5 ");
  EXPECT_EQ(merged({entity_at(0, 5, 0.4), entity_at(0, 5, 0.6), entity_at(0, 5, 0.5)}), "0-5:6 ");
  EXPECT_EQ(merged({entity_at(0, 5, 0.9), entity_at(3, 9, 0.1)}),
            "3-9:1 ");  // the longer, whatever its score
  EXPECT_EQ(merged({entity_at(0, 5, 0.9), entity_at(5, 9, 0.1)}), "0-5:9 5-9:1 ");
  // The second loses to the first although it would keep the third off.
  EXPECT_EQ(merged({entity_at(0, 6, 0.9), entity_at(4, 8, 0.1), entity_at(7, 9, 0.3)}),
            "0-6:9 7-9:3 ");
  EXPECT_EQ(merged({}), "");
  std::vector<embert_entity> equal = {entity_at(0, 5, 0.5), entity_at(0, 5, 0.5)};
  equal[1].window = 1;
  std::size_t left = 2;
  ASSERT_EQ(embert_merge_entities(equal.data(), &left), EMBERT_STATUS_OK);
  ASSERT_EQ(left, 1u);
  EXPECT_EQ(equal[0].window, 0u);
  std::size_t count = 0;
  embert_entity entity = {};
  EXPECT_EQ(embert_merge_entities(nullptr, &count), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_merge_entities(&entity, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
}

}  // namespace
}  // namespace embert::test
