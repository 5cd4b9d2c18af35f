// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/tokenizer/tokenizer_harness.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>

namespace embert::test {

Section::Section(const std::vector<std::uint8_t>& bytes)
    : storage_(bytes.size() + 63), size_(bytes.size()) {
  // Placed as late as alignment allows, so that reading behind the section leaves the allocation
  // soon.
  const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(storage_.data()) % 64;
  begin_ = storage_.data() + (misaligned == 0 ? 0 : 64 - misaligned);
  if (!bytes.empty()) std::memcpy(begin_, bytes.data(), bytes.size());
}

TestTokenizer::TestTokenizer(const convert::TokenizerSpec& spec)
    : TestTokenizer(convert::write_tokenizer_section(spec)) {}

TestTokenizer::TestTokenizer(const std::vector<std::uint8_t>& section) : section_(section) {
  const TokenizerStatus status = section_.open(&view_);
  if (status != TokenizerStatus::kOk) throw std::runtime_error(tokenizer_status_name(status));
}

Tokens TestTokenizer::encode(std::string_view text, const embert_tokenize_options& options,
                             const std::optional<std::string>& pair) const {
  Tokens out;
  // U+FDFA has three bytes and becomes 33, each of which may be a token.
  const std::size_t capacity = text.size() * 11 + (pair ? pair->size() * 11 : 0) + 8;
  for (auto* v : {&out.ids, &out.type_ids, &out.word_ids, &out.sequence_ids}) v->resize(capacity);
  for (auto* v : {&out.byte_offsets, &out.char_offsets}) v->resize(2 * capacity);
  embert_tokens tokens = {};
  tokens.capacity = capacity;
  tokens.ids = out.ids.data();
  tokens.type_ids = out.type_ids.data();
  tokens.byte_offsets = out.byte_offsets.data();
  tokens.char_offsets = out.char_offsets.data();
  tokens.word_ids = out.word_ids.data();
  tokens.sequence_ids = out.sequence_ids.data();
  const embert_text texts = {text.data(), text.size(), pair ? pair->data() : nullptr,
                             pair ? pair->size() : 0};
  out.status = tokenize(view_, texts, options, &tokens);
  const std::size_t length = out.status == TokenizerStatus::kOk ? tokens.length : 0;
  for (auto* v : {&out.ids, &out.type_ids, &out.word_ids, &out.sequence_ids}) v->resize(length);
  for (auto* v : {&out.byte_offsets, &out.char_offsets}) v->resize(2 * length);
  out.windows = tokens.windows;
  return out;
}

void TestTokenizer::ids(std::string_view text, std::vector<std::int32_t>* ids) const {
  if (ids->size() < text.size() * 11 + 1) ids->resize(text.size() * 11 + 1);
  embert_tokens tokens = {};
  tokens.capacity = ids->size();
  tokens.ids = ids->data();
  const TokenizerStatus status = tokenize(view_, text_of(text), kPlain, &tokens);
  if (status != TokenizerStatus::kOk) throw std::runtime_error(tokenizer_status_name(status));
  ids->resize(tokens.length);
}

std::string TestTokenizer::strings(std::string_view text) const {
  std::vector<std::int32_t> list;
  ids(text, &list);
  std::string out;
  for (const std::int32_t id : list) {
    if (!out.empty()) out += ' ';
    out += token(static_cast<std::uint32_t>(id));
  }
  return out;
}

std::string TestTokenizer::token(std::uint32_t id) const {
  const char* string = nullptr;
  std::size_t bytes = 0;
  const TokenizerStatus status = tokenizer_token(view_, id, &string, &bytes);
  return status == TokenizerStatus::kOk ? std::string(string, bytes)
                                        : tokenizer_status_name(status);
}

const std::vector<std::string>& reference_settings() {
  static const std::vector<std::string> settings = {"uncased:lower:unset",
                                                    "uncased:lower:true",
                                                    "uncased:lower:false",
                                                    "cased:keep:unset",
                                                    "cased:keep:true",
                                                    "cased:keep:false",
                                                    "multilingual-cased:keep:unset",
                                                    "multilingual-cased:keep:true",
                                                    "multilingual-cased:keep:false",
                                                    "chinese:lower:unset",
                                                    "chinese:lower:true",
                                                    "chinese:lower:false",
                                                    "chinese:keep:unset",
                                                    "chinese:keep:true",
                                                    "chinese:keep:false"};
  return settings;
}

const TestTokenizer& reference_tokenizer(const std::string& setting) {
  static std::map<std::string, std::unique_ptr<TestTokenizer>> made;
  std::unique_ptr<TestTokenizer>& slot = made[setting];
  if (slot == nullptr) {
    const std::size_t first = setting.find(':');
    const std::size_t second = setting.find(':', first + 1);
    convert::VocabularySettings settings;
    settings.lowercase = setting.substr(first + 1, second - first - 1) == "lower";
    const std::string strip = setting.substr(second + 1);
    if (strip != "unset") settings.strip_accents = strip == "true";
    const std::string file =
        shared_dir() + "/data/tokenizer/vocab/bert-base-" + setting.substr(0, first) + "-vocab.txt";
    slot = std::make_unique<TestTokenizer>(convert::read_vocabulary(file, settings));
  }
  return *slot;
}

bool has_same_offsets(const std::string& text, const Tokens& tokens) {
  std::vector<std::uint32_t> starts;
  for (std::uint32_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) starts.push_back(i);
  }
  starts.push_back(static_cast<std::uint32_t>(text.size()));
  const auto is_same = [&](std::uint32_t character, std::uint32_t byte) {
    return character < starts.size() && starts[character] == byte;
  };
  return std::ranges::equal(tokens.char_offsets, tokens.byte_offsets, is_same);
}

std::string shared_dir() { return EMBERT_SHARED_DIR; }

bool has_shared_dir() {
  return std::filesystem::is_directory(shared_dir() + "/reference/tokenizer");
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("can not read " + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::uint32_t crc32(std::uint32_t crc, const void* data, std::size_t bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> t = {};
    for (std::uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int bit = 0; bit < 8; ++bit) t[i] = (t[i] >> 1) ^ ((t[i] & 1) != 0 ? 0xEDB88320u : 0u);
    }
    return t;
  }();
  crc = ~crc;
  const auto* p = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) crc = table[(crc ^ p[i]) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

std::uint32_t crc32_of_ids(std::uint32_t crc, const std::vector<std::int32_t>& ids) {
  const std::uint32_t count = static_cast<std::uint32_t>(ids.size());
  crc = crc32(crc, &count, sizeof(count));
  return crc32(crc, ids.data(), ids.size() * sizeof(std::int32_t));
}

}  // namespace embert::test
