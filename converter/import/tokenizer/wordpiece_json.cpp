// SPDX-License-Identifier: Apache-2.0
// WordPiece of tokenizer.json: BertNormalizer or none, BertPreTokenizer.
#include <utility>

#include "converter/convert_error.hpp"
#include "converter/import/tokenizer/tokenizer_json.hpp"
#include "runtime/format/tokenizer_format.hpp"

namespace embert::convert {
namespace {

void read_wordpiece_steps(const TextSteps& steps, const TokenTable& table, WordPieceSpec* spec) {
  static_cast<BertNormalizerSpec&>(*spec) = {
      .lowercase = false, .strip_accents = false, .split_cjk = false, .clean_text = false};
  for (const NormalizerStep& step : steps.normalizer) {
    if (step.kind != NormalizerStep::Kind::kBert || steps.normalizer.size() > 1) {
      table.fail(std::string("normalizer \"") + step_name(step.kind) +
                 "\" is not supported with WordPiece; expected one BertNormalizer");
    }
    static_cast<BertNormalizerSpec&>(*spec) = step.bert;
  }
  if (steps.pre_tokenizer.empty()) {
    table.fail("\"pre_tokenizer\" is missing; expected BertPreTokenizer");
  }
  for (const PreTokenizerStep& step : steps.pre_tokenizer) {
    if (step.kind != PreTokenizerStep::Kind::kBert || steps.pre_tokenizer.size() > 1) {
      table.fail(std::string("pre_tokenizer \"") + step_name(step.kind) +
                 "\" is not supported with WordPiece; expected one BertPreTokenizer");
    }
  }
}

}  // namespace

void read_wordpiece_json(const JsonFields& model, TextSteps steps, TokenTable* table,
                         TokenizerSpec* spec) {
  WordPieceSpec wordpiece;
  wordpiece.continuing_prefix = model.get_string("continuing_subword_prefix");
  wordpiece.max_word_chars =
      static_cast<std::uint32_t>(model.get_int("max_input_chars_per_word", 1, kMaxWordChars, 100));
  const Json* vocab = model.find("vocab");
  if (vocab == nullptr || !vocab->is_object() || vocab->empty()) {
    table->fail("model: \"vocab\" must be an object of tokens and ids");
  }
  for (const auto& [token, id] : vocab->items()) table->add(token, id, true);
  const std::string unk = model.get_string("unk_token", "[UNK]");
  spec->unk_id = table->find(unk);
  if (!spec->unk_id) {
    table->fail("model: \"unk_token\" \"" + printable(unk) + "\" is not in \"vocab\"");
  }
  read_wordpiece_steps(steps, *table, &wordpiece);
  spec->model = std::move(wordpiece);
}

}  // namespace embert::convert
