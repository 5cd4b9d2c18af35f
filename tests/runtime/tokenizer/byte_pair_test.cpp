// SPDX-License-Identifier: Apache-2.0
// Merges of a byte-level BPE against merging one pair after another, hostile sections, time.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>

#include "converter/export/tokenizer/byte_pair_arrays.hpp"
#include "runtime/format/byte_pair_format.hpp"
#include "runtime/tokenizer/bpe/byte_pair_encoder.hpp"
#include "runtime/tokenizer/bpe/byte_pair_section.hpp"
#include "tests/runtime/tokenizer/tokenizer_harness.hpp"
#include "tests/support/error_text.hpp"
#include "tests/support/random.hpp"
#include "tests/support/system/linear_time.hpp"

namespace embert::test {
namespace {

using Status = TokenizerStatus;

// Whole numbers below a bound.
struct Dice {
  Random random;
  std::uint32_t operator()(std::size_t below) {
    return static_cast<std::uint32_t>(random.below(below));
  }
};

using Merges = std::vector<std::array<std::uint32_t, 2>>;

// The definition: the pair of the lowest rank, of several the leftmost, until there is none. By
// ranks: all places of the lowest rank from left to right are the same, as parts come before
// wholes.
class NaiveMerges {
 public:
  explicit NaiveMerges(const Merges& merges) {
    for (std::size_t i = 0; i < merges.size(); ++i) add(merges[i]);
  }
  void add(const std::array<std::uint32_t, 2>& pair) {
    const auto symbol = static_cast<std::uint32_t>(256 + rank_.size());
    rank_.emplace(pair, symbol);
  }
  bool has(const std::array<std::uint32_t, 2>& pair) const { return rank_.count(pair) != 0; }

  std::vector<std::int32_t> encode(std::string_view bytes) const {
    std::vector<std::uint32_t> symbols;
    for (const char c : bytes) symbols.push_back(static_cast<std::uint8_t>(c));
    for (;;) {
      std::uint32_t best = UINT32_MAX;
      for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
        const auto found = rank_.find({symbols[i], symbols[i + 1]});
        if (found != rank_.end() && found->second < best) best = found->second;
      }
      if (best == UINT32_MAX) return {symbols.begin(), symbols.end()};
      std::vector<std::uint32_t> merged;
      for (std::size_t i = 0; i < symbols.size(); ++i) {
        const auto found =
            i + 1 < symbols.size() ? rank_.find({symbols[i], symbols[i + 1]}) : rank_.end();
        if (found != rank_.end() && found->second == best) {
          merged.push_back(best);
          ++i;
        } else {
          merged.push_back(symbols[i]);
        }
      }
      symbols.swap(merged);
    }
  }

 private:
  std::map<std::array<std::uint32_t, 2>, std::uint32_t> rank_;
};

// One word for the model, whatever it holds.
convert::TokenizerSpec one_word_spec(const Merges& merges) {
  convert::TokenizerSpec spec = small_byte_level_spec(merges);
  std::get<convert::BpeSpec>(spec.model).split = false;
  return spec;
}

void expect_same(const TestTokenizer& tokenizer, const NaiveMerges& naive,
                 const std::string& word) {
  std::vector<std::int32_t> ids;
  tokenizer.ids(word, &ids);
  ASSERT_EQ(ids, naive.encode(word)) << word.substr(0, 200);
  // The symbols' places follow each other without gaps.
  const Tokens tokens = tokenizer.encode(word, kPlain);
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
    ASSERT_EQ(tokens.byte_offsets[2 * i], at);
    at = tokens.byte_offsets[2 * i + 1];
  }
  ASSERT_EQ(at, word.size());
}

TEST(BytePairs, RandomMerges) {
  Dice dice = {Random(1)};
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t letters = 1 + dice(5);
    Merges merges;
    NaiveMerges naive(merges);
    std::vector<std::string> strings;
    for (int byte = 0; byte < 256; ++byte) strings.emplace_back(1, static_cast<char>(byte));
    std::vector<std::uint32_t> symbols;
    for (std::uint32_t i = 0; i < letters; ++i) symbols.push_back('a' + i);
    const std::size_t wanted = 1 + dice(60);
    for (int tries = 0; tries < 300 && merges.size() < wanted; ++tries) {
      // Long symbols, or any.
      const std::uint32_t from =
          round % 3 == 1 && symbols.size() > 4 ? static_cast<std::uint32_t>(symbols.size()) - 4 : 0;
      const auto pick = [&] { return symbols[from + dice(symbols.size() - from)]; };
      const std::array<std::uint32_t, 2> pair = {pick(), symbols[dice(symbols.size())]};
      const std::string string = strings[pair[0]] + strings[pair[1]];
      if (naive.has(pair) || string.size() > 200) continue;
      const std::vector<std::int32_t> parts = naive.encode(string);
      if (parts.size() != 2 || static_cast<std::uint32_t>(parts[0]) != pair[0]) continue;
      symbols.push_back(static_cast<std::uint32_t>(256 + merges.size()));
      merges.push_back(pair);
      naive.add(pair);
      strings.push_back(string);
    }
    const TestTokenizer tokenizer(one_word_spec(merges));
    for (int k = 0; k < 20 && !HasFatalFailure(); ++k) {
      const std::size_t bytes = k < 16 ? dice(40) : dice(2500);
      std::string word;
      while (word.size() < bytes) {
        const std::string& part = strings[symbols[dice(symbols.size())]];
        for (std::uint32_t again = k % 3 == 0 ? dice(20) : 1; again != 0; --again) word += part;
        word += static_cast<char>('a' + dice(letters));
      }
      if (!word.empty()) expect_same(tokenizer, naive, word);
    }
  }
}

// Pairs of a chain x0 x1 x2 ..., the later the earlier in rank: the end of the text decides what
// its begin becomes, so the encoder must read thousands of bytes ahead of the first token.
TEST(BytePairs, TokensThatDependOnBytesFarAhead) {
  Merges merges;
  const std::uint32_t links = 1500;
  for (std::uint32_t i = 0; i <= links; ++i) merges.push_back({'a' + i / 100, 128 + i % 100});
  for (std::uint32_t i = links; i-- > 0;) merges.push_back({256 + i, 256 + i + 1});
  const NaiveMerges naive(merges);
  const TestTokenizer tokenizer(one_word_spec(merges));
  std::string chain;
  for (std::uint32_t i = 0; i <= links; ++i) {
    chain += static_cast<char>('a' + i / 100);
    chain += static_cast<char>(128 + i % 100);
  }
  // Read as Latin letters the bytes would not be UTF-8: go to the encoder through valid text only.
  for (const std::size_t bytes : {2 * links, 2 * links + 2, 2000u, 2002u, 1026u, 1024u}) {
    SCOPED_TRACE(bytes);
    const std::string word = chain.substr(0, bytes);
    const BytePairTables tables = byte_pair_section(tokenizer.view()).tables;
    struct Bytes {
      const std::string& word;
      std::uint8_t at(std::uint32_t i) const { return static_cast<std::uint8_t>(word[i]); }
      void rewind(std::uint32_t) {}
    } reader = {word};
    struct Sink {
      std::vector<std::int32_t> ids;
      void emit(std::uint32_t symbol, std::uint32_t, std::uint32_t) {
        ids.push_back(static_cast<std::int32_t>(symbol));
      }
    } sink;
    BytePairEncoder<Bytes, Sink>(tables, reader, sink)
        .encode(static_cast<std::uint32_t>(word.size()));
    EXPECT_EQ(sink.ids, naive.encode(word));
  }
}

// Tables that contradict each other: "aa" merges to a symbol that the trie does not have. Encodings
// of even and odd beginnings of "aaa..." then have no position in common.
TEST(BytePairs, ContradictingTablesTakeLinearTime) {
  const TestTokenizer tokenizer(one_word_spec({{'a', 'a'}, {'b', 'b'}}));
  BytePairTables tables = byte_pair_section(tokenizer.view()).tables;
  const std::uint32_t parts[] = {'a', 'a', 'a', 'a'};
  std::vector<std::uint32_t> slots(tables.pair_slots, tables.pair_slots + tables.pair_slot_count);
  ASSERT_EQ(find_merge(tables, 'a', 'a'), 256u);
  for (std::uint32_t& slot : slots) {
    if (slot != 0 && (slot & kPairSymbolMask) == 256) ++slot;
  }
  tables.parts = parts;
  tables.pair_slots = slots.data();
  ASSERT_EQ(find_merge(tables, 'a', 'a'), 257u);
  struct Bytes {
    std::uint64_t calls = 0;
    std::uint8_t at(std::uint32_t) {
      ++calls;
      return 'a';
    }
    void rewind(std::uint32_t) {}
  } bytes;
  struct Sink {
    std::uint32_t end = 0;
    void emit(std::uint32_t, std::uint32_t begin, std::uint32_t to) {
      EXPECT_EQ(begin, end);
      end = to;
    }
  } sink;
  const std::uint32_t length = 200'000;
  BytePairEncoder<Bytes, Sink>(tables, bytes, sink).encode(length);
  EXPECT_EQ(sink.end, length);
  EXPECT_LT(bytes.calls, 100u * length);
}

TEST(BytePairs, LongWordsTakeLinearTime) {
  Merges merges = {{'a', 'a'}, {256, 256}, {257, 257}, {258, 258}, {'a', 'b'}, {260, 'a'}};
  const TestTokenizer tokenizer(one_word_spec(merges));
  for (const char* const pattern : {"a", "ab", "aab", "abaaaaaaaaaaaaaaaac", "\xCC\x81"}) {
    SCOPED_TRACE(pattern);
    const auto word = [&](std::size_t bytes) {
      std::string text;
      while (text.size() < bytes) text += pattern;
      return text;
    };
    expect_linear_time(100'000, word, [&](const std::string& text) {
      std::vector<std::int32_t> ids;
      tokenizer.ids(text, &ids);
    });
  }
}

class BytePairSectionTest : public testing::Test {
 protected:
  std::vector<std::uint8_t> bytes_ =
      convert::write_tokenizer_section(small_byte_level_spec({{'a', 'b'}, {256, 'c'}, {' ', 257}}));

  TokenizerView view() {
    section_ = std::make_unique<Section>(bytes_);
    TokenizerView view;
    EXPECT_EQ(section_->open(&view), TokenizerStatus::kOk);
    return view;
  }
  // Where a pointer into the section points.
  std::size_t offset(const void* at) const {
    return static_cast<std::size_t>(static_cast<const std::uint8_t*>(at) - section_->data());
  }
  TokenizerStatus with(std::size_t at, std::uint32_t value) const {
    std::vector<std::uint8_t> changed = bytes_;
    std::memcpy(changed.data() + at, &value, sizeof(value));
    TokenizerView view;
    return Section(changed).open(&view);
  }
  std::unique_ptr<Section> section_;
};

TEST_F(BytePairSectionTest, IsRead) {
  const TestTokenizer tokenizer(bytes_);
  EXPECT_EQ(tokenizer.strings("abc abc abd"), "abc \u0120abc \u0120 ab d");
  const Tokens tokens = tokenizer.encode(" abc <mask>caf\u00e9", kWithSpecials, "\xFF");
  EXPECT_EQ(tokens.ids, (std::vector<std::int32_t>{259, 258, 261, 'c', 'a', 'f', 0xC3, 0xA9, 260,
                                                   260, 0xEF, 0xBF, 0xBD, 260}));
  EXPECT_EQ(tokens.byte_offsets,
            (std::vector<std::uint32_t>{0,  0,  0, 4, 4, 11, 11, 12, 12, 13, 13, 14, 14, 16,
                                        14, 16, 0, 0, 0, 0,  0,  1,  0,  1,  0,  1,  0,  0}));
  EXPECT_EQ(tokens.word_ids,
            (std::vector<std::int32_t>{-1, 0, 1, 2, 2, 2, 2, 2, -1, -1, 0, 0, 0, -1}));
}

TEST_F(BytePairSectionTest, EachFieldIsChecked) {
  const TokenizerView view = this->view();
  const BytePairSection part = byte_pair_section(view);
  const std::size_t header = offset(part.header);
  const auto field = [&](const std::uint32_t& value) { return offset(&value); };
  const std::uint32_t tokens = view.header->token_count;
  const struct {
    std::size_t at;
    std::uint32_t value;
    Status status;
  } cases[] = {
      {field(part.header->flags), 8, Status::kSectionBadModel},
      {field(part.header->merge_count), 2, Status::kSectionBadPadding},
      {field(part.header->merge_count), tokens - 255, Status::kSectionBadModel},
      {field(part.header->merge_count), 0xFFFFFFFF, Status::kSectionBadModel},
      {field(part.header->pair_slot_count), 3, Status::kSectionBadModel},
      {field(part.header->pair_slot_count), (1u << 22) + 1, Status::kSectionBadModel},
      {field(part.header->pair_slot_count), 1u << 20, Status::kSectionBadSize},
      {field(part.header->pair_probes), 0, Status::kSectionBadModel},
      {field(part.header->pair_probes), 65, Status::kSectionBadModel},
      {field(part.header->reserved[11]), 1, Status::kSectionBadModel},
      {field(part.tables.parts[0]), 256, Status::kSectionBadModel},
      {field(part.tables.parts[1]), 256, Status::kSectionBadModel},
      {field(part.tables.parts[5]), 258, Status::kSectionBadModel},
      {field(part.tables.pair_slots[0]), 1, Status::kSectionBadModel},
      {field(part.tables.pair_slots[1]), 255, Status::kSectionBadModel},
      {field(part.tables.pair_slots[2]), 259, Status::kSectionBadModel},
      {field(part.symbol_ids[0]), tokens, Status::kSectionBadModel},
      {field(part.symbol_ids[258]), 0xFFFFFFFF, Status::kSectionBadModel},
      {field(part.symbol_ids[259]), 1, Status::kSectionBadPadding},
      // Strings that are not those of the parts: "abd", "cc", "abc" for "ab", "b" for "a".
      {field(part.tables.parts[3]), 'd', Status::kSectionBadModel},
      {field(part.tables.parts[2]), 'c', Status::kSectionBadModel},
      {field(part.symbol_ids[256]), 257, Status::kSectionBadModel},
      {field(part.symbol_ids[97]), 98, Status::kSectionBadModel},
      // The trie's values are symbols: 259 would be a token, but no symbol.
      {field(view.word_units[view.header->word_root + 1 + 'z']), 'z' | 3u << 8 | 259u << 11,
       Status::kSectionBadUnit},
      {field(view.header->word_root), 0xFFFFFF, Status::kSectionBadUnit},
      {field(view.header->word_unit_count), 0, Status::kSectionBadModel},
      {field(view.header->flags), 1u << 8, Status::kSectionBadHeader},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(with(c.at, c.value), c.status) << "offset " << c.at - header << " " << c.value;
  }
  EXPECT_EQ(with(header, 7), Status::kOk);
}

// Two symbols that meet undo their merges, so a chain as long as the section would make each byte
// of a text take as many steps.
TEST_F(BytePairSectionTest, LongChainsOfMergesAreRefused) {
  Merges merges;
  for (std::uint32_t i = 0; i < 1000; ++i) merges.push_back({i / 32, 'a' + i % 32});
  bytes_ = convert::write_tokenizer_section(small_byte_level_spec(merges));
  const std::size_t parts = offset(byte_pair_section(view()).tables.parts);
  for (std::uint32_t i = 1; i < 1000; ++i) {
    const std::uint32_t chain[] = {255 + i, 'a'};
    std::memcpy(bytes_.data() + parts + i * sizeof(chain), chain, sizeof(chain));
  }
  EXPECT_EQ(with(parts, 0), Status::kSectionBadModel);
}

TEST_F(BytePairSectionTest, BytesHaveStrings) {
  // "z" becomes empty, and the token behind it "z{". No merge has one of them.
  const TokenizerView view = this->view();
  bytes_[offset(&view.string_starts['z' + 1])] -= 1;
  TokenizerView refused;
  EXPECT_EQ(Section(bytes_).open(&refused), Status::kSectionBadModel);
}

// Any numbers within their ranges: wrong tokens, but each call ends and stays in its memory.
TEST_F(BytePairSectionTest, NumbersThatDoNotAgree) {
  const TokenizerView view = this->view();
  const BytePairSection part = byte_pair_section(view);
  Dice dice = {Random(2)};
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint8_t> changed = bytes_;
    const auto put = [&](const std::uint32_t& at, std::uint32_t value) {
      std::memcpy(changed.data() + offset(&at), &value, sizeof(value));
    };
    for (std::uint32_t i = 0; i < part.header->pair_slot_count; ++i) {
      const std::uint32_t hash = dice(2048) << 21;
      put(part.tables.pair_slots[i], dice(2) == 0 ? 0 : hash | (256 + dice(3)));
    }
    for (std::uint32_t i = 0; i < view.header->word_unit_count; ++i) {
      const std::uint32_t unit = view.word_units[i];
      const bool leaf = (unit & kUnitIsLeaf) != 0;
      if (leaf && dice(3) == 0) {
        put(view.word_units[i], (unit & 0x7FF) | dice(259) << 11);
      } else if (unit != 0 && dice(4) == 0) {
        put(view.word_units[i], 0);
      }
    }
    const Section section(changed);
    TokenizerView hostile;
    if (section.open(&hostile) != TokenizerStatus::kOk) continue;
    const TestTokenizer tokenizer(changed);
    std::string text;
    for (int k = 0; k < 1200; ++k) text += "abc z\u00e9"[dice(7)];
    EXPECT_EQ(tokenizer.encode(text, kWithSpecials).status, TokenizerStatus::kOk);
  }
}

// More pairs with one hash than a look-up may read: no table of any size holds them.
TEST(BytePairSection, PairsThatCollide) {
  constexpr std::uint32_t kLeft = 0x9E3779B1, kRight = 0x85EBCA77;  // the factors of hash_pair
  std::uint32_t inverse = 1;  // of kRight, by Newton's iteration
  for (int i = 0; i < 5; ++i) inverse *= 2 - kRight * inverse;
  ASSERT_EQ(inverse * kRight, 1u);
  constexpr std::uint32_t kSymbols = 1u << 20;
  std::vector<convert::SymbolPair> merges;
  for (std::uint32_t i = 0; i < kSymbols - kByteSymbols; ++i) {
    merges.push_back({i / kByteSymbols, i % kByteSymbols});
  }
  std::size_t colliding = 0;
  for (std::uint32_t left = 0; left < kSymbols; ++left) {
    const std::uint32_t right = (0u - left * kLeft) * inverse;
    if (right >= kSymbols) continue;
    ASSERT_EQ(hash_pair(left, right), hash_pair(0, 0));
    merges.push_back({left, right});
    ++colliding;
  }
  ASSERT_GT(colliding, kMaxPairProbes);
  EXPECT_EQ(error_text([&] { convert::make_byte_pair_arrays(merges); }),
            "tokenizer: " + std::to_string(merges.size()) +
                " merges need a table of more than 4194304 slots, the most that is supported");
}

TEST(BytePairs, AddedTokenTakesTheSpaceBehindIt) {
  convert::TokenizerSpec spec = small_byte_level_spec({});
  const auto id = static_cast<std::uint32_t>(spec.tokens.size());
  spec.tokens.emplace_back("<n>");
  spec.in_vocabulary.push_back(true);
  spec.added_tokens.push_back(
      {.content = "<n>", .id = id, .strip_right = true, .normalized = true});
  const Tokens tokens = TestTokenizer(spec).encode("a<n> \t b", kPlain);
  EXPECT_EQ(tokens.ids, (std::vector<std::int32_t>{'a', static_cast<std::int32_t>(id), 'b'}));
  EXPECT_EQ(tokens.byte_offsets, (std::vector<std::uint32_t>{0, 1, 1, 7, 7, 8}));
}

}  // namespace
}  // namespace embert::test
