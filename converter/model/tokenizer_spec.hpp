// SPDX-License-Identifier: Apache-2.0
// A tokenizer as the converter holds it between its files and the blob's tokenizer section: what
// all models have, and one struct for each model.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace embert::convert {

/// A token that is searched for in the text before the text is split into words.
struct AddedTokenSpec {
  std::string content;
  std::uint32_t id = 0;
  bool strip_left = false;   ///< also takes the white space before it
  bool strip_right = false;  ///< also takes the white space after it
  bool normalized = false;   ///< searched for in the normalised text, else in the original text
  bool special = false;
};

/// One piece of the template around the texts: a special token, or a text.
struct TemplatePieceSpec {
  enum class Kind { kToken, kFirstText, kSecondText };
  Kind kind = Kind::kToken;
  std::uint32_t token_id = 0;  ///< of kToken
  std::uint32_t type_id = 0;
};

/// BertNormalizer.
struct BertNormalizerSpec {
  bool lowercase = true;
  bool strip_accents = true;
  bool split_cjk = true;
  bool clean_text = true;
};

/// One step of a normalizer, by its name in the package tokenizers.
struct NormalizerStep {
  enum class Kind {
    kBert,
    kNfc,
    kNfkc,
    kNfd,
    kNfkd,
    kStripAccents,
    kLowercase,
    kPrecompiled,
    kReplace,
    kStrip,
    kPrepend
  };
  Kind kind = Kind::kBert;
  BertNormalizerSpec bert = {};
  std::string pattern = {};  ///< of kReplace: a string, or a regular expression
  bool is_regex = false;
  std::string content = {};                 ///< of kReplace and kPrepend
  bool strip_left = false;                  ///< of kStrip
  bool strip_right = false;                 ///< of kStrip
  std::vector<std::uint8_t> charsmap = {};  ///< of kPrecompiled, as sentencepiece writes it
};

/// One step of a pre-tokenizer, by its name in the package tokenizers.
struct PreTokenizerStep {
  enum class Kind { kBert, kWhitespaceSplit, kMetaspace, kByteLevel };
  enum class Prepend { kAlways, kFirst, kNever };
  Kind kind = Kind::kBert;
  std::string replacement = {};        ///< of kMetaspace
  Prepend prepend = Prepend::kAlways;  ///< of kMetaspace
  bool split = true;                   ///< of kMetaspace
  bool add_prefix_space = false;       ///< of kByteLevel
  bool use_regex = true;               ///< of kByteLevel
};

struct NormalizerName {
  NormalizerStep::Kind kind;
  const char* name;
};
inline constexpr NormalizerName kNormalizerNames[] = {
    {NormalizerStep::Kind::kBert, "BertNormalizer"},
    {NormalizerStep::Kind::kNfc, "NFC"},
    {NormalizerStep::Kind::kNfkc, "NFKC"},
    {NormalizerStep::Kind::kNfd, "NFD"},
    {NormalizerStep::Kind::kNfkd, "NFKD"},
    {NormalizerStep::Kind::kStripAccents, "StripAccents"},
    {NormalizerStep::Kind::kLowercase, "Lowercase"},
    {NormalizerStep::Kind::kPrecompiled, "Precompiled"},
    {NormalizerStep::Kind::kReplace, "Replace"},
    {NormalizerStep::Kind::kStrip, "Strip"},
    {NormalizerStep::Kind::kPrepend, "Prepend"}};

/// The name of a step in tokenizer.json.
constexpr const char* step_name(NormalizerStep::Kind kind) {
  for (const NormalizerName& entry : kNormalizerNames) {
    if (entry.kind == kind) return entry.name;
  }
  return "";
}

struct PreTokenizerName {
  PreTokenizerStep::Kind kind;
  const char* name;
};
inline constexpr PreTokenizerName kPreTokenizerNames[] = {
    {PreTokenizerStep::Kind::kBert, "BertPreTokenizer"},
    {PreTokenizerStep::Kind::kWhitespaceSplit, "WhitespaceSplit"},
    {PreTokenizerStep::Kind::kMetaspace, "Metaspace"},
    {PreTokenizerStep::Kind::kByteLevel, "ByteLevel"}};

/// The name of a step in tokenizer.json.
constexpr const char* step_name(PreTokenizerStep::Kind kind) {
  for (const PreTokenizerName& entry : kPreTokenizerNames) {
    if (entry.kind == kind) return entry.name;
  }
  return "";
}

struct WordPieceSpec : BertNormalizerSpec {
  std::uint32_t max_word_chars = 100;
  std::string continuing_prefix = "##";
};

struct UnigramSpec {
  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerStep> pre_tokenizer;
  std::vector<double> scores;  ///< by id, for the tokens of the vocabulary
  bool byte_fallback = false;
  /// The least score of the whole vocabulary, set when pieces are pruned: the score of unknown
  /// characters follows from it.
  std::optional<double> least_score = {};
};

/// Byte-level BPE. A symbol is a number: 0..255 are the bytes, 256 + i is what merge i makes.
struct BpeSpec {
  bool compose = false;       ///< the text is brought to NFC
  bool prefix_space = false;  ///< a space is put before a text that does not begin with one
  bool split = true;          ///< GPT-2's regular expression splits the text into words
  std::vector<std::array<std::uint32_t, 2>> merges;  ///< by rank: the symbols that merge i joins
  std::vector<std::uint32_t> symbol_ids;             ///< by symbol: its token
};

struct TokenizerSpec {
  std::vector<std::string> tokens;  ///< by id: vocabulary and added tokens, without holes
  std::vector<bool> in_vocabulary;  ///< by id: whether the model can make the token
  std::vector<AddedTokenSpec> added_tokens;

  std::optional<std::uint32_t> unk_id, cls_id, sep_id, pad_id, mask_id;
  std::vector<TemplatePieceSpec> single, pair;
  bool trim_offsets = false;            ///< offsets leave out the white space around a token
  bool trim_keeps_prefix_space = true;  ///< but for the first space of a text

  /// Maximum lengths in tokens: of tokenizer.json's truncation, and that which transformers takes
  /// from tokenizer_config.json.
  std::optional<std::uint32_t> max_tokens, model_max_length;

  std::variant<WordPieceSpec, UnigramSpec, BpeSpec> model;

  WordPieceSpec& wordpiece() { return std::get<WordPieceSpec>(model); }
  const WordPieceSpec& wordpiece() const { return std::get<WordPieceSpec>(model); }
  const UnigramSpec& unigram() const { return std::get<UnigramSpec>(model); }
  const BpeSpec& bpe() const { return std::get<BpeSpec>(model); }
};

}  // namespace embert::convert
