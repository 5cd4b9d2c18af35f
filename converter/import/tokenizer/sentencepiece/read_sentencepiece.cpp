// SPDX-License-Identifier: Apache-2.0
#include "converter/import/tokenizer/sentencepiece/read_sentencepiece.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "converter/convert_error.hpp"
#include "converter/import/tokenizer/sentencepiece/sentencepiece_file.hpp"
#include "converter/import/tokenizer/token_table.hpp"

namespace embert::convert {
namespace {

using Family = SentencePieceSettings::Family;
using PieceSpec = TemplatePieceSpec;

constexpr double kPenalty = 100;  // of transformers, for pieces that shall not be used

class SentencePieceTokenizer {
 public:
  SentencePieceTokenizer(const SentencePieceFile& model, const std::string& file,
                         const SentencePieceSettings& settings)
      : model_(model), table_(file), settings_(settings) {}

  TokenizerSpec make() {
    if (model_.model_type != SentencePieceFile::kUnigram) {
      table_.fail("model_type " + std::to_string(model_.model_type) +
                  " is not supported; expected 1, Unigram");
    }
    add_pieces();
    spec_.tokens = table_.tokens();
    spec_.in_vocabulary = table_.in_vocabulary();
    const bool albert = settings_.family == Family::kAlbert;
    spec_.cls_id = require(albert ? "[CLS]" : "<s>");
    spec_.sep_id = require(albert ? "[SEP]" : "</s>");
    spec_.mask_id = require(albert ? "[MASK]" : "<mask>");
    spec_.pad_id = require("<pad>");
    spec_.unk_id = albert ? checked_unk_id() : require("<unk>");
    add_special_tokens();
    make_templates();
    make_steps();
    spec_.model = std::move(unigram_);
    return std::move(spec_);
  }

 private:
  void add(const std::string& piece, double score) {
    const auto id = static_cast<std::uint32_t>(unigram_.scores.size());
    const std::string where = "piece " + std::to_string(id);
    if (piece.empty()) table_.fail(where + " is empty");
    if (!is_utf8(piece)) table_.fail(where + " \"" + printable(piece, 40) + "\" is not UTF-8");
    if (!std::isfinite(score)) {
      table_.fail("score of piece \"" + printable(piece, 40) + "\" is not finite");
    }
    table_.add(piece, id, true);
    unigram_.scores.push_back(score);
  }

  // Ids are those of fairseq, whose dictionary begins with four tokens. XLM-R leaves out
  // sentencepiece's <unk>, <s>, </s>; CamemBERT leaves out <unk> only.
  void add_pieces() {
    std::size_t from = 0;
    if (settings_.family == Family::kXlmRoberta) {
      for (const char* const token : {"<s>", "<pad>", "</s>", "<unk>"}) add(token, 0);
      from = 3;
    } else if (settings_.family == Family::kCamembert) {
      for (const char* const token : {"<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>"}) add(token, 0);
      add("<unk>NOTUSED", -kPenalty);
      from = 1;
    }
    for (std::size_t id = from; id < model_.pieces.size(); ++id) {
      const SentencePiece& piece = model_.pieces[id];
      const bool unused = settings_.family == Family::kAlbert && is_number_with_comma(piece.piece);
      add(piece.piece, static_cast<double>(piece.score) - (unused ? kPenalty : 0));
    }
    if (settings_.family != Family::kAlbert) add("<mask>", 0);
  }

  // "9,": ALBERT splits the comma from such pieces.
  static bool is_number_with_comma(const std::string& piece) {
    return piece.size() >= 2 && piece.back() == ',' && piece[piece.size() - 2] >= '0' &&
           piece[piece.size() - 2] <= '9';
  }

  std::uint32_t require(const std::string& token) const {
    const auto id = table_.find(token);
    if (!id) table_.fail("token \"" + token + "\" is missing");
    return *id;
  }

  std::uint32_t checked_unk_id() const {
    if (model_.unk_id >= model_.pieces.size()) {
      table_.fail("unk_id " + std::to_string(model_.unk_id) + " is no piece");
    }
    return static_cast<std::uint32_t>(model_.unk_id);
  }

  // The special tokens of the tokenizer's class, and the file's control and user-defined pieces.
  void add_special_tokens() {
    std::unordered_set<std::uint32_t> added;
    const auto add_token = [&](std::uint32_t id, bool special) {
      if (!added.insert(id).second) return;
      AddedTokenSpec token;
      token.content = spec_.tokens[id];
      token.id = id;
      token.special = special;
      token.strip_left = id == *spec_.mask_id;
      token.normalized = id == *spec_.mask_id && settings_.family != Family::kAlbert;
      spec_.added_tokens.push_back(token);
    };
    for (const auto& id : {spec_.cls_id, spec_.sep_id, spec_.pad_id, spec_.unk_id, spec_.mask_id}) {
      add_token(*id, true);
    }
    for (const SentencePiece& piece : model_.pieces) {
      const bool control = piece.type == SentencePiece::kControl;
      if (control || piece.type == SentencePiece::kUserDefined) {
        if (const auto id = table_.find(piece.piece)) add_token(*id, control);
      }
    }
    std::ranges::sort(spec_.added_tokens, {}, &AddedTokenSpec::id);
  }

  void make_templates() {
    using Kind = PieceSpec::Kind;
    const bool albert = settings_.family == Family::kAlbert;
    const PieceSpec cls = {Kind::kToken, *spec_.cls_id, 0};
    const PieceSpec sep = {Kind::kToken, *spec_.sep_id, 0};
    spec_.single = {cls, {Kind::kFirstText, 0, 0}, sep};
    spec_.pair = spec_.single;
    if (!albert) spec_.pair.push_back(sep);
    const std::uint32_t type = albert ? 1 : 0;
    spec_.pair.push_back({Kind::kSecondText, 0, type});
    spec_.pair.push_back({Kind::kToken, *spec_.sep_id, type});
  }

  void make_steps() {
    using Kind = NormalizerStep::Kind;
    std::vector<NormalizerStep>& steps = unigram_.normalizer;
    const bool albert = settings_.family == Family::kAlbert;
    if (albert) {
      steps.push_back({.kind = Kind::kReplace, .pattern = "``", .content = "\""});
      steps.push_back({.kind = Kind::kReplace, .pattern = "''", .content = "\""});
      if (!settings_.keep_accents) {
        steps.push_back({.kind = Kind::kNfkd});
        steps.push_back({.kind = Kind::kStripAccents});
      }
      if (settings_.lowercase) steps.push_back({.kind = Kind::kLowercase});
    }
    if (!model_.charsmap.empty()) {
      steps.push_back({.kind = Kind::kPrecompiled, .charsmap = model_.charsmap});
    }
    if (!albert) steps.push_back({.kind = Kind::kStrip, .strip_right = true});
    steps.push_back({.kind = Kind::kReplace,
                     .pattern = " {2,}",
                     .is_regex = true,
                     .content = albert ? " " : "\u2581"});
    unigram_.pre_tokenizer = {
        {.kind = PreTokenizerStep::Kind::kMetaspace, .replacement = "\u2581"}};
  }

  const SentencePieceFile& model_;
  TokenTable table_;
  SentencePieceSettings settings_;
  TokenizerSpec spec_;
  UnigramSpec unigram_;
};

}  // namespace

TokenizerSpec read_sentencepiece(std::string_view bytes, const std::string& file,
                                 const SentencePieceSettings& settings) {
  const SentencePieceFile model = parse_sentencepiece(bytes, file);
  return SentencePieceTokenizer(model, file, settings).make();
}

}  // namespace embert::convert
