// SPDX-License-Identifier: Apache-2.0
// Unigram: the best path of long words against the plain algorithm with a node for every
// character, time, hostile sections.
#include <gtest/gtest.h>

#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <random>

#include "converter/convert_error.hpp"
#include "embert/embert_inspect.h"
#include "runtime/tokenizer/unigram/grapheme_break.hpp"
#include "runtime/tokenizer/unigram/unigram_section.hpp"
#include "tests/runtime/tokenizer/tokenizer_harness.hpp"
#include "tests/support/small_unigram.hpp"
#include "tests/support/synthetic_blob.hpp"

namespace embert::test {
namespace {

using Pieces = std::vector<std::pair<std::string, double>>;
using Status = TokenizerStatus;

// Viterbi with a node for each character, in doubles, as the package tokenizers has it; ASCII.
std::vector<std::int32_t> best_pieces(const convert::TokenizerSpec& spec, const std::string& word) {
  struct Node {
    double score = 0;
    std::size_t start = 0;
    std::int32_t id = -1;
  };
  std::map<std::string, std::int32_t> ids;
  std::size_t longest = 0;
  double least = 0;
  for (std::size_t id = 0; id < spec.tokens.size(); ++id) {
    ids[spec.tokens[id]] = static_cast<std::int32_t>(id);
    longest = std::max(longest, spec.tokens[id].size());
    least = std::min(least, spec.unigram().scores[id]);
  }
  std::vector<Node> nodes(word.size() + 1);
  for (std::size_t start = 0; start < word.size(); ++start) {
    bool single = false;
    const auto offer = [&](std::size_t end, std::int32_t id, double score) {
      const double sum = nodes[start].score + score;
      if (nodes[end].id < 0 || sum > nodes[end].score) nodes[end] = {sum, start, id};
    };
    for (std::size_t length = 1; length <= longest && start + length <= word.size(); ++length) {
      const auto found = ids.find(word.substr(start, length));
      if (found == ids.end()) continue;
      offer(start + length, found->second,
            spec.unigram().scores[static_cast<std::size_t>(found->second)]);
      single = single || length == 1;
    }
    if (!single) offer(start + 1, 0, least - 10);
  }
  std::vector<std::int32_t> out;
  for (std::size_t end = word.size(); end > 0; end = nodes[end].start) {
    if (nodes[end].id != 0 || out.empty() || out.back() != 0) out.push_back(nodes[end].id);
  }
  return {out.rbegin(), out.rend()};
}

std::string random_text(std::mt19937& random, std::size_t length, const std::string& alphabet) {
  std::string out;
  for (std::size_t i = 0; i < length; ++i) out += alphabet[random() % alphabet.size()];
  return out;
}

void expect_best(const convert::TokenizerSpec& spec, const TestTokenizer& tokenizer,
                 const std::string& word) {
  const std::vector<std::int32_t> expected = best_pieces(spec, word);
  const Tokens actual = tokenizer.encode(word, kPlain);
  ASSERT_EQ(actual.ids, expected) << word.size() << " " << word.substr(0, 80);
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < actual.ids.size(); ++i) {
    ASSERT_EQ(actual.byte_offsets[2 * i], at) << word.size();
    at = actual.byte_offsets[2 * i + 1];
    if (actual.ids[i] != 0) {
      ASSERT_EQ(word.substr(actual.byte_offsets[2 * i], at - actual.byte_offsets[2 * i]),
                tokenizer.token(static_cast<std::uint32_t>(actual.ids[i])));
    }
  }
  ASSERT_EQ(at, word.size());
  std::vector<std::int32_t> ids;
  tokenizer.ids(word, &ids);  // without offsets
  ASSERT_EQ(ids, expected);
}

TEST(UnigramPath, PathsThatNeverMeet) {
  // Behind an odd and an even number of a's the best paths share no node.
  const convert::TokenizerSpec spec = unigram_spec({{"a", -5}, {"aa", -1}, {"b", -2}});
  const TestTokenizer tokenizer(spec);
  for (std::size_t length = 0; length < 2200; ++length) {
    expect_best(spec, tokenizer, std::string(length, 'a'));
    if (HasFatalFailure()) return;
  }
  for (const std::size_t length : {4095u, 4096u, 40001u, 300007u}) {
    expect_best(spec, tokenizer, std::string(length, 'a'));
    expect_best(spec, tokenizer, std::string(length, 'a') + "b" + std::string(length / 2, 'a'));
    if (HasFatalFailure()) return;
  }
}

TEST(UnigramPath, RandomPieces) {
  std::mt19937 random(15);
  for (int round = 0; round < 300; ++round) {
    const std::string alphabet = round % 3 == 0 ? "a" : round % 3 == 1 ? "ab" : "abcz";
    const std::size_t longest = round % 5 == 0 ? 63 : round % 5 == 1 ? 20 : 5;
    std::map<std::string, double> pieces;
    for (std::uint32_t i = 0; i < 2 + random() % 30; ++i) {
      // Few scores, so that many sums are equal.
      pieces[random_text(random, 1 + random() % longest, alphabet.substr(0, 3))] =
          -0.5 * static_cast<double>(1 + random() % (round % 2 == 0 ? 4 : 40));
    }
    const convert::TokenizerSpec spec = unigram_spec({pieces.begin(), pieces.end()});
    const TestTokenizer tokenizer(spec);
    for (int text = 0; text < 12; ++text) {
      std::string word;
      const std::size_t length = random() % (text % 4 == 0 ? 9000 : 700);
      while (word.size() < length) {
        // Parts repeat, as in texts whose paths meet late.
        const std::string part = random_text(random, 1 + random() % 9, alphabet);
        for (std::uint32_t i = 0; i < 1 + random() % 200; ++i) word += part;
      }
      expect_best(spec, tokenizer, word);
      if (HasFatalFailure()) return;
    }
  }
}

double seconds_for(const TestTokenizer& tokenizer, const std::string& text) {
  embert_tokens tokens = {};
  const std::clock_t begin = std::clock();
  EXPECT_EQ(tokenize(tokenizer.view(), text_of(text), kPlain, &tokens), Status::kCapacityTooSmall);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(UnigramPath, TimeIsLinear) {
  const TestTokenizer never(unigram_spec({{"a", -5}, {"aa", -1}}));
  const TestTokenizer split(unigram_spec({{"a", -1}, {"b", -1}}));
  for (const TestTokenizer* tokenizer : {&never, &split}) {
    const double once = seconds_for(*tokenizer, std::string(std::size_t{1} << 20, 'a'));
    const double four = seconds_for(*tokenizer, std::string(std::size_t{4} << 20, 'a'));
    std::printf("4 MiB in one word: %.2f s, %.2f times the time of 1 MiB\n", four, four / once);
    EXPECT_LT(four, 4 * 1.6 * once + 0.05);
  }
}

TEST(UnigramPath, ByteFallbackOfALongUnknownRun) {
  Pieces pieces = {{"a", -1}};
  char name[8];
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::snprintf(name, sizeof(name), "<0x%02X>", byte);
    pieces.emplace_back(name, -3);
  }
  convert::TokenizerSpec spec = unigram_spec(pieces);
  std::get<convert::UnigramSpec>(spec.model).byte_fallback = true;
  const TestTokenizer tokenizer(spec);
  std::string text = "a";
  for (int i = 0; i < 5000; ++i) text += "\u00e9";
  const Tokens tokens = tokenizer.encode(text + "a", kPlain);
  ASSERT_EQ(tokens.ids.size(), 10002u);
  EXPECT_EQ(tokenizer.token(static_cast<std::uint32_t>(tokens.ids[1])), "<0xC3>");
  EXPECT_EQ(tokenizer.token(static_cast<std::uint32_t>(tokens.ids[10000])), "<0xA9>");
  for (std::size_t i = 1; i <= 10000; ++i) {
    ASSERT_EQ(tokens.char_offsets[2 * i], 1u);
    ASSERT_EQ(tokens.char_offsets[2 * i + 1], 5001u);
  }
  // The unknown token's own string stays one token; one byte without a piece makes all unknown.
  EXPECT_EQ(tokenizer.encode("<unk>", kPlain).ids, (std::vector<std::int32_t>{0}));
  pieces.pop_back();
  pieces.erase(pieces.begin() + 1 + 0xC3);
  spec = unigram_spec(pieces);
  std::get<convert::UnigramSpec>(spec.model).byte_fallback = true;
  EXPECT_EQ(TestTokenizer(spec).encode("a\u00e9\u00e9", kPlain).ids,
            (std::vector<std::int32_t>{1, 0}));
}

std::vector<std::uint8_t> bytes_of(const std::string& hex) {
  std::vector<std::uint8_t> out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    out.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return out;
}

// Found by random graphemes beside the package: a control character of four bytes ends a grapheme,
// so the two marks behind it are one of four bytes, and the map replaces both by the first.
TEST(Graphemes, FourByteControl) {
  GraphemeBreak graphemes;
  graphemes.begin(0xE0D3D);
  EXPECT_TRUE(graphemes.breaks_before(0x341));
  graphemes.begin(0x341);
  EXPECT_FALSE(graphemes.breaks_before(0x35A));
  graphemes.begin(0x1F600);
  EXPECT_FALSE(graphemes.breaks_before(0x200D));
  EXPECT_FALSE(graphemes.breaks_before(0xA9));
  EXPECT_TRUE(graphemes.breaks_before('a'));
  graphemes.begin('\r');
  EXPECT_FALSE(graphemes.breaks_before('\n'));
  EXPECT_TRUE(graphemes.breaks_before('\n'));
}

convert::TokenizerSpec normalized_spec(const Pieces& pieces,
                                       std::vector<convert::NormalizerStep> steps) {
  convert::TokenizerSpec spec = unigram_spec(pieces);
  std::get<convert::UnigramSpec>(spec.model).normalizer = std::move(steps);
  return spec;
}

using Offsets = std::vector<std::uint32_t>;
using Ids = std::vector<std::int32_t>;

// Marks come sorted by combining class. The first of them has the place of the text's first mark;
// one that a decomposition inserts has the place of the mark before it.
TEST(UnigramNormalizer, MarksInCanonicalOrder) {
  const TestTokenizer tokenizer(normalized_spec(
      {{"a", -1}, {"\u0323", -1}, {"\u0316", -1}, {"\u0301", -1}, {"\u0302", -1}, {"b", -1}},
      {{.kind = convert::NormalizerStep::Kind::kNfkd}}));
  Tokens tokens = tokenizer.encode("a\u0301\u0323b", kPlain);  // classes 230 and 220
  EXPECT_EQ(tokens.ids, (Ids{1, 2, 4, 6}));
  EXPECT_EQ(tokens.byte_offsets, (Offsets{0, 1, 1, 3, 3, 5, 5, 6}));
  tokens = tokenizer.encode("\u1ead\u0316b", kPlain);  // a, U+0323, U+0302, then U+0316
  EXPECT_EQ(tokens.ids, (Ids{1, 2, 3, 5, 6}));
  EXPECT_EQ(tokens.byte_offsets, (Offsets{0, 3, 0, 3, 3, 5, 3, 5, 5, 6}));
}

TEST(UnigramNormalizer, CapitalIWithDotBecomesTwo) {
  const TestTokenizer tokenizer(
      normalized_spec({{"i", -1}, {"\u0307", -1}, {"b", -1}},
                      {{.kind = convert::NormalizerStep::Kind::kLowercase}}));
  const Tokens tokens = tokenizer.encode("\u0130B", kPlain);
  EXPECT_EQ(tokens.ids, (Ids{1, 2, 3}));
  EXPECT_EQ(tokens.byte_offsets, (Offsets{0, 2, 0, 2, 2, 3}));
}

// A character that a replacement adds shares the place of the one before it; but where a deletion
// follows, it has the place of what is deleted.
TEST(UnigramNormalizer, ADeletionBehindAnAddedCharacter) {
  // The trie of "a", which becomes "xy", and of "b", which is deleted (runtime/tokenizer/unigram/
  // charsmap.hpp): nodes at their own bytes, values at 16 and 17.
  std::vector<std::uint32_t> units(100);
  units['a'] = std::uint32_t{'a' ^ 16} << 10 | 1u << 8 | 'a';
  units['b'] = std::uint32_t{'b' ^ 17} << 10 | 1u << 8 | 'b';
  units[16] = 1u << 31;
  units[17] = 1u << 31 | 2;
  std::vector<std::uint8_t> map(4 + 4 * units.size());
  const auto trie_bytes = static_cast<std::uint32_t>(4 * units.size());
  std::memcpy(map.data(), &trie_bytes, 4);
  std::memcpy(map.data() + 4, units.data(), trie_bytes);
  for (const char c : {'x', 'y', '\0'}) map.push_back(static_cast<std::uint8_t>(c));
  const TestTokenizer tokenizer(normalized_spec(
      {{"x", -1}, {"y", -1}},
      {{.kind = convert::NormalizerStep::Kind::kPrecompiled, .charsmap = std::move(map)}}));
  const Tokens tokens = tokenizer.encode("aba", kPlain);
  EXPECT_EQ(tokens.ids, (Ids{1, 2, 1, 2}));
  EXPECT_EQ(tokens.byte_offsets, (Offsets{0, 1, 1, 2, 2, 3, 2, 3}));
}

TEST(UnigramNormalizer, AddedTokenTakesTheSpaceBehindIt) {
  convert::TokenizerSpec spec = unigram_spec({{"a", -1}, {"<n>", -1}});
  spec.added_tokens = {{.content = "<n>", .id = 2, .strip_right = true, .normalized = true}};
  const Tokens tokens = TestTokenizer(spec).encode("a<n> \t a", kPlain);
  EXPECT_EQ(tokens.ids, (Ids{1, 2, 1}));
  EXPECT_EQ(tokens.byte_offsets, (Offsets{0, 1, 1, 7, 7, 8}));
}

class UnigramSectionTest : public testing::Test {
 protected:
  UnigramSectionTest() {
    convert::TokenizerSpec spec = unigram_spec({{"a", -1}, {"<0x61>", -2}});
    auto& unigram = std::get<convert::UnigramSpec>(spec.model);
    unigram.byte_fallback = true;
    convert::NormalizerStep map;
    map.kind = convert::NormalizerStep::Kind::kPrecompiled;
    map.charsmap = bytes_of("04000000000000007800");  // no key
    unigram.normalizer = {map};
    bytes_ = convert::write_tokenizer_section(spec);
    TokenizerView view;
    Section section(bytes_);
    EXPECT_EQ(section.open(&view), Status::kOk);
    const UnigramSection part = unigram_section(view);
    const auto offset = [&](const void* at) {
      return static_cast<std::size_t>(static_cast<const std::uint8_t*>(at) - section.data());
    };
    header_at_ = offset(part.header);
    charsmap_at_ = offset(part.charsmap);
    byte_ids_at_ = offset(part.byte_ids);
  }

  template <typename Value>
  Status with(std::size_t at, Value value) const {
    std::vector<std::uint8_t> changed = bytes_;
    std::memcpy(changed.data() + at, &value, sizeof(value));
    TokenizerView view;
    const Section section(changed);
    const Status status = section.open(&view);
    EXPECT_EQ(view.header == nullptr, status != Status::kOk);
    return status;
  }

  Status with_header(const std::function<void(UnigramHeader*)>& change) const {
    UnigramHeader header;
    std::memcpy(&header, bytes_.data() + header_at_, sizeof(header));
    change(&header);
    return with(header_at_, header);
  }

  std::vector<std::uint8_t> bytes_;
  std::size_t header_at_ = 0, charsmap_at_ = 0, byte_ids_at_ = 0;
};

TEST_F(UnigramSectionTest, HeaderOutOfRange) {
  const auto expect = [&](const std::function<void(UnigramHeader*)>& change, const char* what,
                          Status status = Status::kSectionBadModel) {
    EXPECT_EQ(with_header(change), status) << what;
  };
  using H = UnigramHeader;
  expect([](H*) {}, "nothing", Status::kOk);
  expect([](H* h) { h->flags |= kUnigramAllFlags + 1; }, "flags");
  expect([](H* h) { h->flags |= kUnigramPrependAlways | kUnigramPrependFirst; }, "two prefixes");
  expect([](H* h) { h->max_piece_chars = 0; }, "max_piece_chars");
  expect([](H* h) { h->max_piece_chars = kMaxPieceChars + 1; }, "max_piece_chars");
  expect([](H* h) { h->word_mark = 0; }, "word_mark");
  expect([](H* h) { h->word_mark = 0xD800; }, "word_mark");
  expect([](H* h) { h->word_mark = 0x110000; }, "word_mark");
  expect([](H* h) { h->spaces_content = 'x'; }, "spaces_content");
  expect([](H* h) { h->flags |= kUnigramReplaceSpaces; }, "spaces_content");
  expect([](H* h) { h->charsmap_bytes = kMaxCharsmapBytes + 1; }, "charsmap_bytes");
  expect([](H* h) { h->charsmap_bytes += 64; }, "charsmap_bytes", Status::kSectionBadSize);
  expect([](H* h) { h->charsmap_bytes = 8; }, "charsmap_bytes", Status::kSectionBadPadding);
  expect([](H* h) { h->flags &= ~std::uint32_t{kUnigramByteFallback}; }, "byte_ids",
         Status::kSectionBadSize);
  expect([](H* h) { h->unknown_score[1] = 0x7FFFFFFF; }, "unknown_score");
  expect([](H* h) { h->unknown_score[1] = 0x80000000; }, "unknown_score");
  expect([](H* h) { h->replace[0].length = kMaxPatternChars + 1; }, "replace");
  expect([](H* h) { h->replace[0].length = 1; }, "replace");
  expect([](H* h) { h->replace[0].content = 'x'; }, "replace");
  expect([](H* h) { h->replace[1].pattern[3] = 'x'; }, "replace");
  expect([](H* h) { h->reserved[12] = 1; }, "reserved");
}

TEST_F(UnigramSectionTest, ArraysOutOfRange) {
  EXPECT_EQ(with(byte_ids_at_, std::uint32_t{3}), Status::kSectionBadId);
  EXPECT_EQ(with(byte_ids_at_ + 255 * 4, std::uint32_t{0xFFFFFFFE}), Status::kSectionBadId);
  EXPECT_EQ(with(charsmap_at_, std::uint32_t{0}), Status::kSectionBadModel);
  EXPECT_EQ(with(charsmap_at_, std::uint32_t{5}), Status::kSectionBadModel);
  EXPECT_EQ(with(charsmap_at_, std::uint32_t{8}), Status::kSectionBadModel);
  EXPECT_EQ(with(charsmap_at_ + 9, std::uint8_t{'x'}), Status::kSectionBadModel);
  EXPECT_EQ(with(offsetof(TokenizerHeader, unk_id), kNoToken), Status::kSectionBadId);
  EXPECT_EQ(with(offsetof(TokenizerHeader, model), std::uint32_t{0}), Status::kSectionBadHeader);
  EXPECT_EQ(with(offsetof(TokenizerHeader, model), kTokenizerModels), Status::kSectionBadHeader);
  EXPECT_EQ(with(offsetof(TokenizerHeader, max_word_chars), std::uint32_t{1}),
            Status::kSectionBadHeader);
  EXPECT_EQ(with(offsetof(TokenizerHeader, flags), std::uint32_t{kTokenizerLowercase}),
            Status::kSectionBadHeader);
}

// Whatever bytes lie in the arrays, texts end and nothing outside is read (with the sanitizer).
TEST_F(UnigramSectionTest, RandomBytesInTheArrays) {
  std::mt19937 random(3);
  int opened = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::uint8_t> changed = bytes_;
    for (std::uint32_t i = 0; i < 1 + random() % 4; ++i) {
      changed[sizeof(TokenizerHeader) + random() % (changed.size() - sizeof(TokenizerHeader))] =
          static_cast<std::uint8_t>(random());
    }
    TokenizerView view;
    const Section section(changed);
    if (section.open(&view) != Status::kOk) continue;
    ++opened;
    const TestTokenizer tokenizer(changed);
    std::string text;
    for (int i = 0; i < 300; ++i) text += static_cast<char>(random() % (round % 2 == 0 ? 256 : 3));
    EXPECT_EQ(tokenizer.encode(text + std::string(200, 'a'), kPlain).status, Status::kOk);
  }
  EXPECT_GT(opened, 100);
}

std::string refusal(
    const std::function<void(convert::TokenizerSpec*, convert::UnigramSpec*)>& change) {
  convert::TokenizerSpec spec = unigram_spec({{"a", -1}});
  change(&spec, &std::get<convert::UnigramSpec>(spec.model));
  try {
    convert::write_tokenizer_section(spec);
  } catch (const convert::ConvertError& error) {
    return error.what();
  }
  return "no error";
}

TEST(UnigramWriter, RefusesByName) {
  using Spec = convert::TokenizerSpec;
  using Unigram = convert::UnigramSpec;
  using Step = convert::NormalizerStep;
  EXPECT_EQ(refusal([](Spec*, Unigram*) {}), "no error");
  const auto with_steps = [](std::vector<Step> steps) {
    return refusal([&](Spec*, Unigram* u) { u->normalizer = steps; });
  };
  EXPECT_EQ(
      refusal([](Spec*, Unigram* u) { u->scores[1] = -0x1.8p-26; }),
      "tokenizer: score -2.2351741790771484e-08 of piece \"a\" is no multiple of 2^-24 between "
      "-128 and 128, so sums of scores would not be those of the package tokenizers; scores "
      "that sentencepiece trains are");
  EXPECT_NE(refusal([](Spec*, Unigram* u) { u->scores[1] = 128; }), "no error");
  EXPECT_EQ(refusal([](Spec* s, Unigram*) { s->tokens[1] = std::string(63, 'a'); }), "no error");
  EXPECT_EQ(refusal([](Spec* s, Unigram*) { s->tokens[1] = std::string(64, 'a'); }),
            "tokenizer: piece \"" + std::string(40, 'a') +
                "...\" has 64 characters, at most 63 are supported");
  EXPECT_EQ(refusal([](Spec* s, Unigram*) { s->trim_offsets = true; }),
            "tokenizer: post_processor: \"trim_offsets\": true is not supported with Unigram");
  EXPECT_EQ(refusal([](Spec*, Unigram* u) { u->pre_tokenizer.clear(); }),
            "tokenizer: pre_tokenizer (none) is not supported with Unigram; expected Metaspace, or "
            "WhitespaceSplit and Metaspace");
  EXPECT_EQ(with_steps({{.kind = Step::Kind::kNfc}}),
            "tokenizer: normalizer NFC is not supported with Unigram; expected Replace, NFKD, "
            "StripAccents, Lowercase, Precompiled and Strip");
  EXPECT_EQ(
      with_steps({{.kind = Step::Kind::kLowercase}, {.kind = Step::Kind::kNfkd}}),
      "tokenizer: normalizer NFKD stands where Unigram has none; supported are Replace, NFKD, "
      "StripAccents, Lowercase, Precompiled, Strip and Replace of \" {2,}\", in this order");
  EXPECT_EQ(with_steps({{.kind = Step::Kind::kReplace, .pattern = "a+", .is_regex = true}}),
            "tokenizer: normalizer Replace of regular expression \"a+\" is not supported with "
            "Unigram; \" {2,}\" is");
  EXPECT_EQ(with_steps({{.kind = Step::Kind::kReplace, .pattern = "ab", .content = "x"},
                        {.kind = Step::Kind::kReplace, .pattern = "xc", .content = "y"}}),
            "tokenizer: normalizer Replace of \"xc\" is not supported behind one that shares a "
            "character with it");
  EXPECT_EQ(with_steps({{.kind = Step::Kind::kReplace, .pattern = "abcde", .content = "x"}}),
            "tokenizer: normalizer Replace of \"abcde\" is not supported; up to 4 patterns of 1 to "
            "4 characters are");
  EXPECT_EQ(with_steps(
                {{.kind = Step::Kind::kReplace, .pattern = std::string("a\0", 2), .content = "x"}}),
            "tokenizer: normalizer Replace of \"a?\" is not supported; take U+0000 out of the "
            "pattern");
  EXPECT_EQ(with_steps({{.kind = Step::Kind::kReplace, .pattern = "a", .content = "xy"}}),
            "tokenizer: normalizer Replace of \"a\" by \"xy\" is not supported; expected one "
            "character");
  EXPECT_EQ(refusal([](Spec* s, Unigram* u) {
              u->normalizer = {{.kind = Step::Kind::kReplace, .pattern = "<", .content = "x"}};
              s->added_tokens = {{.content = "a<b", .id = 1, .normalized = true}};
            }),
            "tokenizer: added token \"a<b\" is \"normalized\" and holds characters that the "
            "normalizer replaces, which is not supported; set \"normalized\" to false");
  const auto with_map = [&](std::vector<std::uint8_t> map) {
    return with_steps({{.kind = Step::Kind::kPrecompiled, .charsmap = std::move(map)}});
  };
  EXPECT_EQ(with_map(bytes_of("040000000000000000")), "no error");
  EXPECT_EQ(with_map(bytes_of("040000")), "tokenizer: precompiled_charsmap: only 3 bytes");
  EXPECT_EQ(with_map(bytes_of("080000000000000000")),
            "tokenizer: precompiled_charsmap: the trie has 8 of 9 bytes");
  EXPECT_EQ(with_map(bytes_of("040000000000000078")),
            "tokenizer: precompiled_charsmap: the last replacement does not end");
  // A node for byte 1 behind the root: it leads outside, to a replacement outside, to the root.
  const std::string root = "0800000000000000";
  EXPECT_EQ(with_map(bytes_of(root + "01140000" + "00")),
            "tokenizer: precompiled_charsmap: the trie leads outside itself");
  EXPECT_EQ(with_map(bytes_of(root + "01010000" + "00")),
            "tokenizer: precompiled_charsmap: a replacement lies outside the charsmap");
  EXPECT_EQ(with_map(bytes_of(root + "01040000" + "00")), "no error");
  // The replacement at byte 257, which the node's own bits name.
  std::string strings;
  for (int i = 0; i < 257; ++i) strings += "78";
  EXPECT_EQ(with_map(bytes_of(root + "01010000" + strings + "ff00")),
            "tokenizer: precompiled_charsmap: replacement \"?\" is no UTF-8 text of at most 255 "
            "bytes");
}

TEST(Unigram, TypeOfTheModelsTokenizer) {
  const AlignedBytes blob(
      make_synthetic_blob({}, write_tokenizer_section(unigram_spec({{"a", -1}}))));
  embert_model model;
  ASSERT_EQ(embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model),
            EMBERT_STATUS_OK);
  embert_tokenizer_info info = {.size = sizeof(info)};
  ASSERT_EQ(embert_model_get_tokenizer(&model, &info), EMBERT_STATUS_OK);
  EXPECT_EQ(info.type, EMBERT_TOKENIZER_UNIGRAM);
}

}  // namespace
}  // namespace embert::test
