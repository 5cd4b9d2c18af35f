// SPDX-License-Identifier: Apache-2.0
// A tokenizer section is hostile: each rule of TOKENIZER_FORMAT.md with its status, truncations,
// random damage.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

#include "tests/runtime/tokenizer/tokenizer_harness.hpp"

namespace embert::test {
namespace {

using Status = TokenizerStatus;

struct SectionOffsets {
  std::size_t word_units, added_units, added_tokens, blocks, starts, strings;
};

std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

TokenizerHeader header_of(const std::vector<std::uint8_t>& section) {
  TokenizerHeader header;
  std::memcpy(&header, section.data(), sizeof(header));
  return header;
}

SectionOffsets offsets_of(const std::vector<std::uint8_t>& section) {
  const TokenizerHeader h = header_of(section);
  SectionOffsets o = {};
  o.word_units = sizeof(TokenizerHeader);
  o.added_units = o.word_units + padded(h.word_unit_count * 4);
  o.added_tokens = o.added_units + padded(h.added_unit_count * 4);
  o.blocks = o.added_tokens + padded(h.added_count * 8);
  o.starts = o.blocks + padded((h.token_count + 256) / 256 * 4);
  o.strings = o.starts + padded((h.token_count + 1) * 2);
  return o;
}

Status open_status(const std::vector<std::uint8_t>& bytes) {
  TokenizerView view;
  const Status status = Section(bytes).open(&view);
  if (status != Status::kOk) {
    EXPECT_EQ(view.header, nullptr);
    EXPECT_EQ(view.word_units, nullptr);
  }
  return status;
}

class TokenizerSection : public testing::Test {
 protected:
  Status with_header(const std::function<void(TokenizerHeader*)>& change) const {
    std::vector<std::uint8_t> bytes = good_;
    TokenizerHeader header = header_of(bytes);
    change(&header);
    std::memcpy(bytes.data(), &header, sizeof(header));
    return open_status(bytes);
  }
  template <typename T>
  Status with_value(std::size_t at, T value) const {
    std::vector<std::uint8_t> bytes = good_;
    std::memcpy(bytes.data() + at, &value, sizeof(value));
    return open_status(bytes);
  }

  const std::vector<std::uint8_t> good_ = convert::write_tokenizer_section(small_spec());
  const SectionOffsets at_ = offsets_of(good_);
  const TokenizerHeader header_ = header_of(good_);
};

TEST_F(TokenizerSection, GoodAndDeterministic) {
  EXPECT_EQ(open_status(good_), Status::kOk);
  EXPECT_EQ(good_, convert::write_tokenizer_section(small_spec()));
  EXPECT_EQ(good_.size() % 64, 0u);
}

TEST_F(TokenizerSection, Arguments) {
  TokenizerView view;
  EXPECT_EQ(tokenizer_open(nullptr, 64, &view), Status::kNullArgument);
  EXPECT_EQ(tokenizer_open(good_.data(), good_.size(), nullptr), Status::kNullArgument);
  std::vector<std::uint8_t> shifted = good_;
  shifted.insert(shifted.begin(), 4, 0);
  Section section(shifted);
  EXPECT_EQ(tokenizer_open(section.data() + 4, good_.size(), &view), Status::kSectionMisaligned);
}

TEST_F(TokenizerSection, EveryTruncationIsRefused) {
  for (std::size_t size = 0; size < good_.size(); ++size) {
    const std::vector<std::uint8_t> part(good_.begin(),
                                         good_.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_EQ(open_status(part), Status::kSectionTruncated) << size;
  }
  std::vector<std::uint8_t> longer = good_;
  longer.resize(longer.size() + 64);
  EXPECT_EQ(open_status(longer), Status::kSectionBadSize);
}

TEST_F(TokenizerSection, Header) {
  using H = TokenizerHeader;
  const auto expect = [&](Status status, const std::function<void(H*)>& change, const char* what) {
    EXPECT_EQ(with_header(change), status) << what;
  };
  expect(
      Status::kSectionBadMagic, [](H* h) { ++h->magic; }, "magic");
  expect(
      Status::kSectionBadVersion, [](H* h) { h->version = 3; }, "version");
  expect(
      Status::kSectionBadVersion, [](H* h) { h->version = 0; }, "version");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->version = 2; }, "version of other models");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->model = 1; }, "model of version 2");
  expect(
      Status::kSectionTruncated, [](H* h) { h->section_bytes += 64; }, "section_bytes");
  expect(
      Status::kSectionBadSize, [](H* h) { h->section_bytes -= 64; }, "section_bytes");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->flags |= 64; }, "flags");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->flags &= ~uint32_t{kTokenizerHasRawTokens}; },
      "raw flag");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->token_count = 0; }, "token_count");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->token_count = kMaxTokenizerTokens + 1; },
      "token_count");
  expect(
      Status::kSectionBadSize, [](H* h) { h->token_count += 64; }, "token_count");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->word_unit_count = 256; }, "word_unit_count");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->word_unit_count = UINT32_MAX; }, "word_unit_count");
  expect(
      Status::kSectionBadSize, [](H* h) { h->word_unit_count += 16; }, "word_unit_count");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->added_unit_count = 0; }, "added_unit_count");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->added_unit_count = UINT32_MAX; },
      "added_unit_count");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->added_count = 0; }, "added_count");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->added_count = kMaxAddedTokens + 1; }, "added_count");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->string_bytes = UINT32_MAX; }, "string_bytes");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->max_word_chars = 0; }, "max_word_chars");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->max_word_chars = 201; }, "max_word_chars");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->max_tokens = 0x80000000; }, "max_tokens");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->prefix_bytes = 17; }, "prefix_bytes");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->prefix[15] = 1; }, "prefix");
  expect(
      Status::kSectionBadUtf8, [](H* h) { h->prefix[0] = 0xFF; }, "prefix");
  expect(
      Status::kSectionBadHeader, [](H* h) { h->reserved[3] = 1; }, "reserved");
  expect(
      Status::kSectionBadId, [](H* h) { h->unk_id = h->token_count; }, "unk_id");
  expect(
      Status::kSectionBadId, [](H* h) { h->unk_id = kNoToken; }, "unk_id");
  expect(
      Status::kSectionBadId, [](H* h) { h->cls_id = h->token_count; }, "cls_id");
  expect(
      Status::kSectionBadId, [](H* h) { h->mask_id = h->token_count; }, "mask_id");
  expect(
      Status::kOk, [](H* h) { h->mask_id = kNoToken; }, "mask_id");
}

TEST_F(TokenizerSection, Templates) {
  using H = TokenizerHeader;
  const auto expect = [&](Status status, const std::function<void(H*)>& change, const char* what) {
    EXPECT_EQ(with_header(change), status) << what;
  };
  expect(
      Status::kSectionBadTemplate, [](H* h) { h->single.count = 9; }, "count");
  expect(
      Status::kSectionBadTemplate, [](H* h) { h->single.count = 1; }, "rest not zero");
  expect(
      Status::kSectionBadTemplate, [](H* h) { h->single.pieces[0].token_id = h->token_count; },
      "id");
  expect(
      Status::kSectionBadTemplate, [](H* h) { h->single.pieces[0].token_id = kSequenceA; },
      "A twice");
  expect(
      Status::kSectionBadTemplate, [](H* h) { h->single.pieces[1].token_id = kSequenceB; },
      "B alone");
  expect(
      Status::kSectionBadTemplate, [](H* h) { h->single.pieces[1].token_id = 0; }, "no text");
  expect(
      Status::kSectionBadTemplate, [](H* h) { h->pair.pieces[3].token_id = 0; }, "no B");
  expect(
      Status::kSectionBadTemplate, [](H* h) { h->pair.pieces[0].type_id = 256; }, "type");
}

TEST_F(TokenizerSection, Arrays) {
  const std::size_t words_end = at_.word_units + header_.word_unit_count * 4;
  if (words_end < at_.added_units) {
    EXPECT_EQ(with_value<std::uint8_t>(words_end, 1), Status::kSectionBadPadding);
  }
  EXPECT_EQ(with_value<std::uint8_t>(good_.size() - 1, 1), Status::kSectionBadPadding);
  EXPECT_EQ(with_value<std::uint32_t>(at_.blocks, 1), Status::kSectionBadStrings);
  EXPECT_EQ(with_value<std::uint16_t>(at_.starts, 1), Status::kSectionBadStrings);
  EXPECT_EQ(with_value<std::uint16_t>(at_.starts + 4, 0), Status::kSectionBadStrings);
  EXPECT_EQ(with_value<std::uint16_t>(at_.starts + 4, 0xFFFF), Status::kSectionBadStrings);
  EXPECT_EQ(with_value<std::uint16_t>(at_.starts + 2 * header_.token_count, 1),
            Status::kSectionBadStrings);
  EXPECT_EQ(with_value<std::uint8_t>(at_.strings, 0xC0), Status::kSectionBadUtf8);
  EXPECT_EQ(with_value<std::uint8_t>(at_.strings + header_.string_bytes - 1, 0xE0),
            Status::kSectionBadUtf8);
  EXPECT_EQ(with_value<std::uint32_t>(at_.added_tokens, header_.token_count),
            Status::kSectionBadAddedToken);
  EXPECT_EQ(with_value<std::uint32_t>(at_.added_tokens + 4, 4), Status::kSectionBadAddedToken);
}

TEST_F(TokenizerSection, Units) {
  const auto set_root = [&](std::uint32_t TokenizerHeader::*root, std::uint32_t value) {
    return with_header([&](TokenizerHeader* h) { h->*root = value; });
  };
  EXPECT_EQ(set_root(&TokenizerHeader::word_root, header_.word_unit_count - 256),
            Status::kSectionBadUnit);
  EXPECT_EQ(set_root(&TokenizerHeader::continuation_root, UINT32_MAX), Status::kSectionBadUnit);
  EXPECT_EQ(set_root(&TokenizerHeader::raw_root, header_.added_unit_count - 256),
            Status::kSectionBadUnit);
  EXPECT_EQ(set_root(&TokenizerHeader::normalized_root, UINT32_MAX), Status::kSectionBadUnit);
  const std::size_t unit = at_.word_units + 4;
  const auto word_unit = [&](std::uint32_t value) {
    return with_value<std::uint32_t>(unit, value);
  };
  const std::uint32_t many = header_.token_count << kUnitPayloadShift;
  EXPECT_EQ(word_unit(kUnitIsLeaf), Status::kSectionBadUnit);
  EXPECT_EQ(word_unit(kUnitHasValue), Status::kSectionBadUnit);
  EXPECT_EQ(word_unit('a'), Status::kSectionBadUnit);
  EXPECT_EQ(word_unit(kUnitIsChild | kUnitIsLeaf | many), Status::kSectionBadUnit);
  EXPECT_EQ(word_unit(kUnitIsChild | kUnitIsLeaf | kUnitHasValue), Status::kSectionBadUnit);
  EXPECT_EQ(word_unit(kUnitIsChild | ((header_.word_unit_count - 256) << kUnitPayloadShift)),
            Status::kSectionBadUnit);
  // A value that is a child, and one that is no token.
  EXPECT_EQ(word_unit(kUnitIsChild | kUnitHasValue | (1u << kUnitPayloadShift)),
            Status::kSectionBadUnit);
  std::vector<std::uint8_t> bytes = good_;
  const std::uint32_t child = kUnitIsChild | kUnitHasValue;
  std::memcpy(bytes.data() + unit, &child, 4);
  std::memcpy(bytes.data() + unit - 4, &many, 4);
  EXPECT_EQ(open_status(bytes), Status::kSectionBadUnit);
  // The trie of added tokens has its own number of values.
  const std::uint32_t index = header_.added_count << kUnitPayloadShift;
  EXPECT_EQ(with_value<std::uint32_t>(at_.added_units, kUnitIsChild | kUnitIsLeaf | index),
            Status::kSectionBadUnit);
}

// A node that is its own child for every byte: look-ups must end all the same, and soon.
TEST_F(TokenizerSection, CircularTriesEnd) {
  std::vector<std::uint8_t> bytes = good_;
  TokenizerHeader header = header_;
  header.word_root = header.continuation_root = header.raw_root = 0;
  std::memcpy(bytes.data(), &header, sizeof(header));
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const std::uint32_t unit = byte | kUnitIsChild;
    std::memcpy(bytes.data() + at_.word_units + 4 * (byte + 1), &unit, 4);
    std::memcpy(bytes.data() + at_.added_units + 4 * (byte + 1), &unit, 4);
  }
  Section section(bytes);
  TokenizerView view;
  ASSERT_EQ(section.open(&view), Status::kOk);
  const std::string text(200000, '[');
  embert_tokens tokens = {};
  EXPECT_EQ(tokenize(view, text_of(text), kPlain, &tokens), Status::kCapacityTooSmall);
  EXPECT_EQ(tokens.length, text.size());
}

TEST_F(TokenizerSection, RandomDamageIsRefusedOrSafe) {
  std::mt19937 random(20240607);
  convert::TokenizerSpec spec = small_spec();
  spec.added_tokens.push_back(
      {.content = "hello", .id = 14, .strip_left = true, .strip_right = true, .normalized = true});
  spec.added_tokens[4].strip_left = spec.added_tokens[4].strip_right = true;
  const std::vector<std::uint8_t> good = convert::write_tokenizer_section(spec);
  std::string text =
      "hello Hello  [MASK] a unaffable caf\u00e9 cafe\u0301 \u4e2d\u56fd!! time\xff\xc3 i\u0307 "
      "\u093e [MASK";
  text += std::string("\0\x01", 2) + "\U0001d15e\u0301\u302e \U0001f600";
  int safe = 0;
  for (int round = 0; round < 30000; ++round) {
    std::vector<std::uint8_t> bytes = good;
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < changes; ++i) {
      // The header is small; every other change goes there or into used units.
      const std::size_t limit = random() % 2 == 0 ? sizeof(TokenizerHeader) : bytes.size();
      bytes[random() % limit] ^= static_cast<std::uint8_t>(1u << (random() % 8));
    }
    Section section(bytes);
    TokenizerView view;
    if (section.open(&view) != Status::kOk) continue;
    ++safe;
    std::int32_t ids[64], words[64];
    std::uint32_t byte_offsets[128], char_offsets[128];
    embert_tokens tokens = {};
    tokens.capacity = 64;
    tokens.ids = ids;
    tokens.word_ids = words;
    tokens.byte_offsets = byte_offsets;
    tokens.char_offsets = char_offsets;
    const Status status =
        tokenize(view, {text.data(), text.size(), "hello", 5}, kWithSpecials, &tokens);
    ASSERT_TRUE(status == Status::kOk || status == Status::kCapacityTooSmall);
    for (std::size_t i = 0; i < tokens.length && i < 64; ++i) {
      const char* string = nullptr;
      std::size_t size = 0;
      ASSERT_EQ(tokenizer_token(view, static_cast<std::uint32_t>(ids[i]), &string, &size),
                Status::kOk);
      ASSERT_LE(byte_offsets[2 * i], byte_offsets[2 * i + 1]);
      ASSERT_LE(byte_offsets[2 * i + 1], text.size());
    }
  }
  EXPECT_GT(safe, 1000);
}

}  // namespace
}  // namespace embert::test
