// SPDX-License-Identifier: Apache-2.0
// The rules by which tokens stay, one by one, on small tokenizers; each refusal with its message.
#include "converter/vocabulary/choose_tokens.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "converter/vocabulary/kept_ids.hpp"
#include "converter/vocabulary/scripts.hpp"
#include "tests/support/error_text.hpp"
#include "tests/support/small_tokenizer.hpp"
#include "tests/support/small_unigram.hpp"

namespace embert::convert {
namespace {

using test::error_text;

// The tokens that stay beside `skip` first ones, with blanks between.
std::string kept_tokens(const TokenizerSpec& spec, const TokenChoice& choice,
                        std::size_t skip = 0) {
  const std::vector<bool> kept = choose_tokens(spec, choice);
  std::string out;
  for (std::size_t id = skip; id < kept.size(); ++id) {
    if (kept[id]) out += (out.empty() ? "" : " ") + spec.tokens[id];
  }
  return out;
}

// How often each token occurs: `used` once, the others never.
std::vector<std::uint64_t> counts_of(const TokenizerSpec& spec,
                                     const std::vector<std::string>& used) {
  std::vector<std::uint64_t> counts;
  for (const std::string& token : spec.tokens) {
    counts.push_back(static_cast<std::uint64_t>(std::ranges::count(used, token)));
  }
  return counts;
}

constexpr std::size_t kSpecials = 5;  // of small_spec()

TokenizerSpec words() {
  TokenizerSpec spec = test::small_spec();
  spec.tokens = {"[PAD]", "[UNK]", "[CLS]",  "[SEP]", "[MASK]", "a",         "##a",         "hello",
                 "##llo", "7",     "\u4e2d", "!",     "2nd",    "##\u4e2d!", "\u0436\u0430"};
  spec.in_vocabulary.assign(spec.tokens.size(), true);
  return spec;
}

TokenizerSpec pieces() {
  return test::unigram_spec({{"\u2581", -3},
                             {"a", -5},
                             {"\u2581go", -2},
                             {"go", -1},
                             {"<0x41>", -9},
                             {"\u0436", -6},
                             {"\u0436\u0430", -4}});
}

TEST(Scripts, OfTextsAreThoseOfTheirLetters) {
  EXPECT_TRUE(scripts_of("7!\u2581\u0301 ##").none());  // Common and Inherited
  EXPECT_EQ(scripts_of("a\u0301"), scripts_named({"Latin"}));
  EXPECT_EQ(scripts_of("a\u0436"), scripts_named({"Latin", "Cyrillic"}));
  EXPECT_EQ(scripts_of("\u4e2d\u3042"), scripts_named({"Han", "Hiragana"}));
  EXPECT_TRUE(scripts_of("\xe4\xb8").none());  // no whole character
  EXPECT_EQ(scripts_of("\xe4\xb8z\xff"), scripts_named({"Latin"}));
  EXPECT_EQ(scripts_of("\U0010FFFF"), scripts_named({"Unknown"}));
  EXPECT_TRUE(scripts_named({"Common", "Inherited"}).none());
}

TEST(Scripts, AnUnknownNameGetsTheListOfNames) {
  const std::string error = error_text([] { scripts_named({"Latin", "latin"}); });
  EXPECT_EQ(error.find("--scripts: \"latin\" is no script of Unicode; there are Adlam, Ahom, "), 0u)
      << error;
  EXPECT_NE(error.find(", Latin, "), std::string::npos);
  EXPECT_EQ(error.find('\n'), std::string::npos);
}

TEST(ChooseTokens, OfScriptsStayAllTokensWithNoOtherCharacter) {
  EXPECT_EQ(kept_tokens(words(), {.scripts = {"Latin"}}, kSpecials), "a ##a hello ##llo 7 ! 2nd");
  EXPECT_EQ(kept_tokens(words(), {.scripts = {"Han"}}, kSpecials), "7 \u4e2d ! ##\u4e2d!");
  EXPECT_EQ(kept_tokens(words(), {.scripts = {"Latin", "Cyrillic"}}, kSpecials),
            "a ##a hello ##llo 7 ! 2nd \u0436\u0430");
  EXPECT_EQ(kept_tokens(pieces(), {.scripts = {"Cyrillic"}}), "<unk> \u2581 \u0436 \u0436\u0430");
}

TEST(ChooseTokens, OfACorpusStayItsTokensAndTheCharactersOfItsScripts) {
  TokenChoice choice;
  choice.counts = counts_of(words(), {"hello"});
  EXPECT_EQ(kept_tokens(words(), choice, kSpecials), "a ##a hello 7 !");
  choice.counts = counts_of(words(), {"\u0436\u0430"});
  EXPECT_EQ(kept_tokens(words(), choice, kSpecials), "7 ! \u0436\u0430");
  // The letters of special tokens are not the corpus's.
  choice.counts = counts_of(words(), {"[UNK]", "\u4e2d"});
  EXPECT_EQ(kept_tokens(words(), choice, kSpecials), "7 \u4e2d !");
  // With names of scripts only the characters are theirs.
  choice.counts = counts_of(words(), {"\u0436\u0430"});
  choice.scripts = {"Latin"};
  EXPECT_EQ(kept_tokens(words(), choice, kSpecials), "a ##a 7 ! \u0436\u0430");
}

TEST(ChooseTokens, ASizeTakesTheCorpussMostFrequentThenTheTokenizersFirst) {
  TokenChoice choice;
  choice.size = 5 + 5 + 2;  // special tokens, single characters, and two more
  EXPECT_EQ(kept_tokens(words(), choice, kSpecials), "a ##a hello ##llo 7 \u4e2d !");
  choice.counts = counts_of(words(), {"2nd", "2nd", "\u0436\u0430"});
  choice.size = 5 + 4 + 1;
  EXPECT_EQ(kept_tokens(words(), choice, kSpecials), "a ##a 7 ! 2nd");
  choice.size = 5 + 4 + 3;
  EXPECT_EQ(kept_tokens(words(), choice, kSpecials), "a ##a hello 7 ! 2nd \u0436\u0430");
  // Unigram: by score.
  choice = {};
  choice.size = 4 + 2;
  EXPECT_EQ(kept_tokens(pieces(), choice), "<unk> \u2581 a \u2581go go \u0436");
}

TEST(ChooseTokens, MoreThanTheScriptsHaveIsAllThatTheyHave) {
  EXPECT_EQ(kept_tokens(pieces(), {.scripts = {"Cyrillic"}, .size = 7}),
            "<unk> \u2581 \u0436 \u0436\u0430");
}

TEST(ChooseTokens, ByteFallbackKeepsThePiecesOfBytes) {
  TokenizerSpec spec = pieces();
  std::get<UnigramSpec>(spec.model).byte_fallback = true;
  EXPECT_EQ(kept_tokens(spec, {.scripts = {"Cyrillic"}}),
            "<unk> \u2581 <0x41> \u0436 \u0436\u0430");
}

TEST(ChooseTokens, AddedTokensTemplatesAndTheModelsIdsStay) {
  TokenizerSpec spec = pieces();
  spec.tokens.emplace_back("<q>");
  spec.in_vocabulary.push_back(false);
  spec.added_tokens.push_back({.content = "<q>", .id = 8});
  spec.single.push_back({TemplatePieceSpec::Kind::kToken, 3, 0});  // "_go"
  EXPECT_EQ(kept_tokens(spec, {.scripts = {"Cyrillic"}, .needed = {4, 100}}),
            "<unk> \u2581 \u2581go go \u0436 \u0436\u0430 <q>");
}

// Merges: he, ll, hell, hello, 0xE4 0xB8, "\u4e2d".
TokenizerSpec merges() {
  return test::small_byte_level_spec(
      {{'h', 'e'}, {'l', 'l'}, {256, 257}, {258, 'o'}, {0xE4, 0xB8}, {260, 0xAD}});
}

TEST(ChooseTokens, OfBytePairsTheBytesAndThePartsOfATokenStay) {
  const std::string specials = "<s> </s> <mask>";
  TokenChoice choice;
  choice.counts = counts_of(merges(), {"hell"});
  EXPECT_EQ(kept_tokens(merges(), choice, 256), "he ll hell " + specials);
  const std::vector<bool> kept = choose_tokens(merges(), choice);
  EXPECT_EQ(std::count(kept.begin(), kept.begin() + 256, true), 256);
  // Two bytes of three are no character of any script.
  EXPECT_EQ(kept_tokens(merges(), {.scripts = {"Latin"}}, 256),
            "he ll hell hello \u00e4\u00b8 " + specials);
  EXPECT_EQ(choose_tokens(merges(), {.scripts = {"Han"}})[261], true);
  // An added token that is a symbol, too, keeps its parts.
  TokenizerSpec spec = merges();
  spec.added_tokens.push_back({.content = "hell", .id = 258});
  choice.counts = counts_of(spec, {"a"});
  EXPECT_EQ(kept_tokens(spec, choice, 256), "he ll hell " + specials);
}

TEST(ChooseTokens, OfBytePairsASizeNeverLeavesOutAPart) {
  // "hello" is the most frequent token and its parts are never tokens of the corpus.
  TokenChoice choice;
  choice.counts = counts_of(merges(), {"hello", "hello"});
  const std::size_t least = 256 + 3;
  const std::string expected[] = {"", "he", "he ll", "he ll hell", "he ll hell hello"};
  for (std::size_t more = 0; more < 5; ++more) {
    choice.size = least + more;
    EXPECT_EQ(kept_tokens(merges(), choice, 256),
              expected[more] + (more > 0 ? " " : "") + "<s> </s> <mask>");
  }
}

TEST(ChooseTokens, RefusesSizesAndScriptsThatMakeNoSense) {
  const auto error = [](const TokenizerSpec& spec, const TokenChoice& choice) {
    return error_text([&] { choose_tokens(spec, choice); });
  };
  EXPECT_EQ(error(words(), {.size = 9}),
            "--vocabulary-size 9: at least 10 tokens must stay (special tokens, bytes, single "
            "characters of the kept scripts); give more, or fewer --scripts");
  EXPECT_EQ(error(merges(), {.size = 0}),
            "--vocabulary-size 0: at least 259 tokens must stay (special tokens, bytes, single "
            "characters of the kept scripts); give more, or fewer --scripts");
  EXPECT_EQ(error(words(), {.size = 16}),
            "--vocabulary-size 16: the tokenizer has 15 tokens; give no more");
  EXPECT_EQ(error(words(), {.scripts = {"Latin", "Gothic"}}),
            "--scripts: the vocabulary has no token with a character of Gothic");
}

TEST(KeptIds, RowsStayInTheirOrder) {
  const KeptIds kept({true, false, true, true, false});
  EXPECT_EQ(kept.old_ids(), (std::vector<std::uint32_t>{0, 2, 3}));
  EXPECT_EQ(kept.new_id(3), 2u);
  EXPECT_EQ(kept.new_id(4), KeptIds::kPruned);
  std::vector<int> table = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  kept.prune_rows(table);
  EXPECT_EQ(table, (std::vector<int>{1, 2, 5, 6, 7, 8}));
  std::vector<int> absent;
  kept.prune_rows(absent);
  EXPECT_TRUE(absent.empty());
}

}  // namespace
}  // namespace embert::convert
