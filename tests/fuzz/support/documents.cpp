// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/support/documents.hpp"

#include <cstdio>
#include <string>

#include "tests/support/small_tokenizer.hpp"

namespace embert::fuzz {
namespace {

using nlohmann::json;

json added_token(int id, const char* content, bool normalized = false) {
  const bool is_mask = std::string(content).find("mask") != std::string::npos;
  return {
      {"id", id},        {"content", content},       {"single_word", false},  {"lstrip", is_mask},
      {"rstrip", false}, {"normalized", normalized}, {"special", !normalized}};
}

json template_processing(const char* begin, int begin_id, const char* end, int end_id) {
  const auto special = [](const char* name) {
    return json{{"SpecialToken", {{"id", name}, {"type_id", 0}}}};
  };
  const auto text = [](const char* name) {
    return json{{"Sequence", {{"id", name}, {"type_id", 0}}}};
  };
  const auto entry = [](const char* name, int id) {
    return json{{"id", name}, {"ids", {id}}, {"tokens", {name}}};
  };
  return {{"type", "TemplateProcessing"},
          {"single", {special(begin), text("A"), special(end)}},
          {"pair", {special(begin), text("A"), special(end), text("B"), special(end)}},
          {"special_tokens", {{begin, entry(begin, begin_id)}, {end, entry(end, end_id)}}}};
}

json metaspace(const char* prepend, bool split) {
  return {{"type", "Metaspace"},
          {"replacement", "\u2581"},
          {"prepend_scheme", prepend},
          {"split", split}};
}

json unigram_document(bool byte_fallback) {
  json vocab = json::array();
  for (const char* token : {"<s>", "<pad>", "</s>", "<unk>"}) vocab.push_back({token, 0.0});
  // Places of the best path differ for long runs of "a"; other pieces have characters of 2, 3 and 4
  // bytes, accents, and one as long as pieces may be.
  for (const char* piece :
       {"a", "aa", "b", "ab", "aab", "\u2581", "\u2581a", "\u2581b", "e", "\u0301", "\u00e9",
        "\u4e2d", "\u4e2d\u56fd", "\U0001f600", "\"", "."}) {
    vocab.push_back({piece, -0.5 * static_cast<double>(vocab.size())});
  }
  vocab.push_back({std::string(63, 'a'), -2.0});
  for (int byte = 0; byte_fallback && byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", static_cast<unsigned>(byte));
    vocab.push_back({name, -20.0});
  }
  const int mask = static_cast<int>(vocab.size());
  return {{"added_tokens",
           {added_token(0, "<s>"), added_token(1, "<pad>"), added_token(2, "</s>"),
            added_token(3, "<unk>"), added_token(mask, "<mask>", byte_fallback)}},
          {"normalizer", nullptr},
          {"pre_tokenizer", metaspace("always", true)},
          {"post_processor", template_processing("<s>", 0, "</s>", 2)},
          {"model",
           {{"type", "Unigram"},
            {"unk_id", 3},
            {"byte_fallback", byte_fallback},
            {"vocab", std::move(vocab)}}}};
}

}  // namespace

std::vector<json> wordpiece_documents() {
  const convert::TokenizerSpec spec = test::small_spec();
  json vocab, added = json::array();
  for (std::size_t id = 0; id < spec.tokens.size(); ++id) vocab[spec.tokens[id]] = id;
  for (const auto& token : spec.added_tokens) {
    added.push_back(added_token(static_cast<int>(token.id), token.content.c_str()));
  }
  const json model = {{"type", "WordPiece"},
                      {"unk_token", "[UNK]"},
                      {"continuing_subword_prefix", "##"},
                      {"max_input_chars_per_word", 100},
                      {"vocab", vocab}};
  json uncased = {{"added_tokens", added},
                  {"normalizer", {{"type", "BertNormalizer"}, {"lowercase", true}}},
                  {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                  {"post_processor", template_processing("[CLS]", 2, "[SEP]", 3)},
                  {"truncation", {{"max_length", 16}, {"direction", "Right"}}},
                  {"model", model}};
  json cased = uncased;
  cased["normalizer"] = {{"type", "BertNormalizer"},
                         {"lowercase", false},
                         {"strip_accents", false},
                         {"handle_chinese_chars", false},
                         {"clean_text", false}};
  cased["post_processor"] = {
      {"type", "BertProcessing"}, {"cls", {"[CLS]", 2}}, {"sep", {"[SEP]", 3}}};
  cased["added_tokens"].push_back(added_token(14, "hello", true));
  return {uncased, cased};
}

std::vector<json> unigram_documents() {
  json plain = unigram_document(false);
  json fallback = unigram_document(true);
  fallback["pre_tokenizer"] = metaspace("never", false);
  json albert = unigram_document(false);
  const auto replace = [](const char* pattern, const char* content) {
    return json{{"type", "Replace"}, {"pattern", {{"String", pattern}}}, {"content", content}};
  };
  const auto step = [](const char* type) { return json{{"type", type}}; };
  albert["normalizer"] = {{"type", "Sequence"},
                          {"normalizers",
                           {replace("``", "\""), replace("''", "\""), step("NFKD"),
                            step("StripAccents"), step("Lowercase")}}};
  albert["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers", {step("WhitespaceSplit"), metaspace("always", true)}}};
  json stripped = unigram_document(false);
  // The trie has no key.
  stripped["normalizer"] = {
      {"type", "Sequence"},
      {"normalizers",
       {{{"type", "Precompiled"}, {"precompiled_charsmap", "BAAAAAAAAAB4AA=="}},
        {{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}},
        {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", "\u2581"}}}}};
  stripped["pre_tokenizer"] = metaspace("first", true);
  return {plain, fallback, albert, stripped};
}

std::vector<json> byte_pair_documents() {
  const std::vector<std::array<std::uint32_t, 2>> merges = {
      {'a', 'a'}, {256, 256}, {257, 257}, {'a', 'b'}, {' ', 'a'}, {' ', 259}, {0xC3, 0xA9}};
  const convert::TokenizerSpec spec = test::small_byte_level_spec(merges);
  json vocab, names = json::array(), added = json::array();
  for (std::size_t id = 0; id < 256 + merges.size(); ++id) vocab[spec.tokens[id]] = id;
  for (const auto& [left, right] : merges) {
    names.push_back({spec.tokens[left], spec.tokens[right]});
  }
  for (const auto& token : spec.added_tokens) {
    added.push_back(added_token(static_cast<int>(token.id), token.content.c_str()));
  }
  json roberta = {{"added_tokens", added},
                  {"normalizer", nullptr},
                  {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
                  {"post_processor",
                   {{"type", "RobertaProcessing"},
                    {"cls", {"<s>", 263}},
                    {"sep", {"</s>", 264}},
                    {"trim_offsets", true},
                    {"add_prefix_space", false}}},
                  {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", names}}}};
  json prefixed = roberta;
  prefixed["pre_tokenizer"]["add_prefix_space"] = true;
  prefixed["post_processor"]["add_prefix_space"] = true;
  json modern = roberta;
  modern["normalizer"] = {{"type", "NFC"}};
  modern["post_processor"] = template_processing("<s>", 263, "</s>", 264);
  modern["added_tokens"].push_back(added_token(266, "ab!", true));
  json unsplit = prefixed;
  unsplit["pre_tokenizer"]["use_regex"] = false;
  unsplit["post_processor"] = {{"type", "ByteLevel"}, {"trim_offsets", false}};
  return {roberta, prefixed, modern, unsplit};
}

}  // namespace embert::fuzz
