// SPDX-License-Identifier: Apache-2.0
// A text whose tokens all stay has the same tokens with the pruned tokenizer: with ties, unknown
// characters and competing merges, and for whole vocabularies of the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "converter/vocabulary/choose_tokens.hpp"
#include "converter/vocabulary/prune_vocabulary.hpp"
#include "tests/runtime/tokenizer/tokenizer_harness.hpp"
#include "tests/support/random.hpp"
#include "tests/support/small_unigram.hpp"

namespace embert::convert {
namespace {

using test::TestTokenizer;

KeptIds without(const TokenizerSpec& spec, const std::vector<std::string>& pruned) {
  std::vector<bool> kept;
  for (const std::string& token : spec.tokens) {
    kept.push_back(std::ranges::find(pruned, token) == pruned.end());
  }
  return KeptIds(kept);
}

std::string strings(const TokenizerSpec& spec, const std::string& text) {
  return TestTokenizer(spec).strings(text);
}

TEST(PruneTokenizer, OtherTextsFallToTheBestOfKeptTokens) {
  const TokenizerSpec words = test::small_spec();
  const TokenizerSpec fewer = prune_tokenizer(words, without(words, {"hello", "cafe"}));
  EXPECT_EQ(strings(words, "hello world!"), "hello world !");
  EXPECT_EQ(strings(fewer, "hello world!"), "hell ##o world !");
  EXPECT_EQ(strings(fewer, "cafe"), "[UNK]");
  const TokenizerSpec pieces =
      test::unigram_spec({{"a", -5.0}, {"b", -5.0}, {"ab", -1.0}, {"abb", -8.0}, {"bb", -2.0}});
  const TokenizerSpec less = prune_tokenizer(pieces, without(pieces, {"ab", "bb"}));
  EXPECT_EQ(strings(pieces, "abb"), "ab b");
  EXPECT_EQ(strings(less, "abb"), "abb");
  EXPECT_EQ(strings(less, "bbab"), "b b a b");
  const TokenizerSpec merges =
      test::small_byte_level_spec({{'a', 'b'}, {'b', 'c'}, {256, 'c'}, {257, 'd'}});
  const TokenizerSpec some = prune_tokenizer(merges, without(merges, {"ab", "abc"}));
  EXPECT_EQ(strings(merges, "abcd"), "abc d");
  EXPECT_EQ(strings(some, "abcd"), "a bcd");
}

TEST(PruneTokenizer, RenumbersEveryId) {
  TokenizerSpec spec = test::small_spec();
  spec.tokens.insert(spec.tokens.begin(), "zero");
  spec.in_vocabulary.push_back(true);
  for (auto* id : {&spec.unk_id, &spec.cls_id, &spec.sep_id, &spec.pad_id, &spec.mask_id}) ++**id;
  for (auto* pieces : {&spec.single, &spec.pair}) {
    for (TemplatePieceSpec& piece : *pieces) ++piece.token_id;
  }
  for (AddedTokenSpec& token : spec.added_tokens) ++token.id;
  const TestTokenizer pruned(prune_tokenizer(spec, without(spec, {"zero", "a"})));
  const test::Tokens tokens = pruned.encode("b [MASK] c", test::kWithSpecials);
  std::string found;
  for (const std::int32_t id : tokens.ids) {
    found += pruned.token(static_cast<std::uint32_t>(id)) + " ";
  }
  EXPECT_EQ(found, "[CLS] b [MASK] c [SEP] ");
  EXPECT_EQ(tokens.ids, (std::vector<std::int32_t>{2, 5, 4, 6, 3}));
  EXPECT_EQ(pruned.view().header->pad_id, 0u);
  EXPECT_EQ(pruned.view().header->unk_id, 1u);
}

// The score of an unknown character is 10 below that of the least piece. It stays -60 without "z":
// with -40 "aaab" and an unknown character would have -41.
TEST(PruneTokenizer, TheUnknownScoreStays) {
  const TokenizerSpec pieces =
      test::unigram_spec({{"a", -10.0}, {"aaab", -1.0}, {"bq", -30.0}, {"z", -50.0}});
  const TokenizerSpec pruned = prune_tokenizer(pieces, without(pieces, {"z"}));
  EXPECT_EQ(strings(pieces, "aaabq"), "a a a bq");
  EXPECT_EQ(strings(pruned, "aaabq"), "a a a bq");
}

// A greedy search that is stuck behind a pruned token may get on behind a shorter one.
TEST(PruneTokenizer, AnUnknownWordMayBecomeKnownInWordPiece) {
  TokenizerSpec words = test::small_spec();
  words.tokens[7] = "##able!";  // in place of "c": nothing begins with c
  words.tokens[8] = "ab";
  words.tokens[9] = "##bc";
  EXPECT_EQ(strings(words, "abc"), "[UNK]");
  EXPECT_EQ(strings(prune_tokenizer(words, without(words, {"ab"})), "abc"), "a ##bc");
}

// Checks texts of kept tokens; returns how many there are.
std::size_t expect_same_tokens(const TokenizerSpec& spec, const KeptIds& kept,
                               const std::vector<std::string>& texts) {
  const TestTokenizer whole(spec);
  const TestTokenizer pruned(prune_tokenizer(spec, kept));
  const bool greedy = std::holds_alternative<WordPieceSpec>(spec.model);
  std::size_t compared = 0, failed = 0;
  std::vector<std::int32_t> before, after;
  for (const std::string& text : texts) {
    whole.ids(text, &before);
    const bool stays = std::ranges::all_of(before, [&](std::int32_t id) {
      const auto old_id = static_cast<std::uint32_t>(id);
      return kept.new_id(old_id) != KeptIds::kPruned && !(greedy && old_id == spec.unk_id);
    });
    if (!stays) continue;
    pruned.ids(text, &after);
    for (std::int32_t& id : after) {
      id = static_cast<std::int32_t>(kept.old_ids()[static_cast<std::size_t>(id)]);
    }
    ++compared;
    if (before == after) continue;
    if (failed == 0) ADD_FAILURE() << text;
    ++failed;
  }
  EXPECT_EQ(failed, 0u) << "of " << compared;
  return compared;
}

// Random texts over few letters, with small random vocabularies full of ties.
std::vector<std::string> random_texts(Random& random, std::size_t count) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text;
    for (std::size_t n = random.below(12) + 1; n > 0; --n) {
      text += static_cast<char>('a' + random.below(4));
    }
    texts.push_back(text);
  }
  return texts;
}

class PruneAtRandom : public SeededTest {};

// Keeps each token with probability 2/3; parts of kept BPE tokens stay.
KeptIds random_choice(Random& random, const TokenizerSpec& spec) {
  TokenChoice choice;
  for (std::size_t id = 0; id < spec.tokens.size(); ++id) {
    choice.counts.push_back(random.below(3) == 0 ? 0 : 1);
  }
  choice.scripts = {"Common"};  // single letters are pruned like other tokens
  return KeptIds(choose_tokens(spec, choice));
}

TEST_F(PruneAtRandom, RandomUnigramsWithTies) {
  Random random(1);
  std::size_t compared = 0;
  for (int round = 0; round < 200; ++round) {
    std::set<std::string> pieces = {"a", "b", "c"};  // "d" is unknown unless random
    for (const std::string& text : random_texts(random, 12)) pieces.insert(text.substr(0, 4));
    std::vector<std::pair<std::string, double>> scored;
    for (const std::string& piece : pieces) {
      scored.push_back({piece, -1.0 - static_cast<double>(random.below(6))});
    }
    const TokenizerSpec spec = test::unigram_spec(scored);
    compared += expect_same_tokens(spec, random_choice(random, spec), random_texts(random, 100));
  }
  EXPECT_GE(compared, 2000u);
}

TEST_F(PruneAtRandom, RandomWordPieces) {
  Random random(1);
  std::size_t compared = 0;
  for (int round = 0; round < 200; ++round) {
    std::set<std::string> pieces = {"a", "b", "##a", "##b", "##c"};
    for (const std::string& text : random_texts(random, 16)) {
      pieces.insert((random.below(2) == 0 ? "" : "##") + text.substr(0, 3));
    }
    TokenizerSpec spec = test::small_spec();
    spec.tokens.resize(5);
    spec.tokens.insert(spec.tokens.end(), pieces.begin(), pieces.end());
    spec.in_vocabulary.assign(spec.tokens.size(), true);
    compared += expect_same_tokens(spec, random_choice(random, spec), random_texts(random, 100));
  }
  EXPECT_GE(compared, 2000u);
}

// Merges of random neighbours in the encoding of random texts, as training makes them; each symbol
// is what its own bytes merge to.
TEST_F(PruneAtRandom, RandomMerges) {
  Random random(1);
  std::size_t compared = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<std::array<std::uint32_t, 2>> merges;
    std::set<std::string> known;
    for (int tries = 0; tries < 40; ++tries) {
      const TokenizerSpec spec = test::small_byte_level_spec(merges);
      std::vector<std::int32_t> ids;
      TestTokenizer(spec).ids(random_texts(random, 1)[0], &ids);
      if (ids.size() < 2) continue;
      const auto left = static_cast<std::uint32_t>(ids[0]),
                 right = static_cast<std::uint32_t>(ids[1]);
      if (known.insert(spec.tokens[left] + spec.tokens[right]).second) {
        merges.push_back({left, right});
      }
    }
    const TokenizerSpec spec = test::small_byte_level_spec(merges);
    compared += expect_same_tokens(spec, random_choice(random, spec), random_texts(random, 200));
  }
  EXPECT_GE(compared, 2000u);
}

class PruneFamily : public testing::TestWithParam<const char*> {};

// The corpus is every second text of the reference; single words of the others are compared.
TEST_P(PruneFamily, TextsOfKeptTokensHaveTheSameTokens) {
  EMBERT_NEED_SHARED_DIR();
  const std::string folder = test::shared_dir() + "/reference/tokenizer_families/";
  std::vector<std::string> warnings;
  const TokenizerSpec spec = *read_tokenizer(folder + GetParam(), warnings);
  std::vector<std::string> corpus, texts;
  std::istringstream lines(test::read_file(folder + "texts.jsonl"));
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    const std::string text = nlohmann::json::parse(line)["text"].get<std::string>();
    texts.push_back(text);
    if (number % 2 == 0) {
      corpus.push_back(text);
      continue;
    }
    std::istringstream words(text);
    for (std::string word; words >> word;) texts.push_back(word);
  }
  TokenChoice choice;
  choice.counts.resize(spec.tokens.size());
  const TestTokenizer whole(spec);
  std::vector<std::int32_t> ids;
  for (const std::string& text : corpus) {
    whole.ids(text, &ids);
    for (const std::int32_t id : ids) ++choice.counts[static_cast<std::size_t>(id)];
  }
  const std::size_t of_corpus =
      expect_same_tokens(spec, KeptIds(choose_tokens(spec, choice)), texts);
  EXPECT_GE(of_corpus, corpus.size());
  choice.size = spec.tokens.size() / 2;
  expect_same_tokens(spec, KeptIds(choose_tokens(spec, choice)), texts);
  expect_same_tokens(spec, KeptIds(choose_tokens(spec, {.scripts = {"Latin"}})), texts);
  std::printf("%s: %zu of %zu texts compared\n", GetParam(), of_corpus, texts.size());
}

INSTANTIATE_TEST_SUITE_P(Families, PruneFamily,
                         testing::Values("xlmr", "xlmr_metaspace", "albert", "byte_fallback",
                                         "roberta", "roberta_prefix", "modernbert", "mpnet"),
                         [](const auto& family) { return std::string(family.param); });

}  // namespace
}  // namespace embert::convert
