// SPDX-License-Identifier: Apache-2.0
// Byte-level BPE of tokenizer.json: NFC or no normalizer, the ByteLevel pre-tokenizer.
#include <utility>

#include "converter/convert_error.hpp"
#include "converter/import/tokenizer/bpe/byte_pair_merges.hpp"
#include "converter/import/tokenizer/tokenizer_json.hpp"

namespace embert::convert {
namespace {

void read_steps(const TextSteps& steps, const TokenTable& table, BpeSpec* bpe) {
  for (const NormalizerStep& step : steps.normalizer) {
    if (step.kind != NormalizerStep::Kind::kNfc) {
      table.fail(std::string("normalizer \"") + step_name(step.kind) +
                 "\" is not supported with BPE; expected NFC or none");
    }
    bpe->compose = true;
  }
  if (steps.pre_tokenizer.empty()) {
    table.fail("\"pre_tokenizer\" is missing; embert reads byte-level BPE, which has ByteLevel");
  }
  for (const PreTokenizerStep& step : steps.pre_tokenizer) {
    if (step.kind != PreTokenizerStep::Kind::kByteLevel || steps.pre_tokenizer.size() > 1) {
      table.fail(std::string("pre_tokenizer \"") + step_name(step.kind) +
                 "\" is not supported with BPE; expected one ByteLevel");
    }
    bpe->prefix_space = step.add_prefix_space;
    bpe->split = step.use_regex;
  }
}

// Settings of which embert computes one value only. unk_token, fuse_unk and byte_fallback have no
// effect: no byte is unknown.
void check_settings(const JsonFields& model, const TokenTable& table) {
  if (model.get_number("dropout", 0) != 0) {
    table.fail("model: \"dropout\" is not supported; expected null or 0");
  }
  for (const char* const key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model.get_string(key, "").empty()) {
      table.fail(std::string("model: \"") + key + "\" \"" +
                 printable(model.get_string(key, ""), 40) +
                 "\" is not supported with BPE; expected none");
    }
  }
  if (model.get_bool("ignore_merges", false)) {
    table.fail("model: \"ignore_merges\" true is not supported; expected false");
  }
}

MergeEntry read_merge(const Json& value, std::size_t number, const TokenTable& table) {
  if (value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string()) {
    return {value[0].get<std::string>(), value[1].get<std::string>()};
  }
  if (value.is_string()) {
    const std::string text = value.get<std::string>();
    const std::size_t blank = text.find(' ');
    if (blank != std::string::npos && text.find(' ', blank + 1) == std::string::npos) {
      return {text.substr(0, blank), text.substr(blank + 1)};
    }
  }
  table.fail("merge " + std::to_string(number) + ": expected two tokens, found " +
             describe_json(value));
}

}  // namespace

void read_bpe_json(const JsonFields& model, TextSteps steps, TokenTable* table,
                   TokenizerSpec* spec) {
  BpeSpec bpe;
  check_settings(model, *table);
  read_steps(steps, *table, &bpe);
  const Json* vocab = model.find("vocab");
  if (vocab == nullptr || !vocab->is_object() || vocab->empty()) {
    table->fail("model: \"vocab\" must be an object of tokens and ids");
  }
  for (const auto& [token, id] : vocab->items()) table->add(token, id, true);
  const Json* merges = model.find("merges");
  if (merges == nullptr || !merges->is_array()) table->fail("model: \"merges\" must be an array");
  std::vector<MergeEntry> entries;
  for (const Json& merge : *merges)
    entries.push_back(read_merge(merge, entries.size() + 1, *table));
  resolve_merges(entries, *table, &bpe);
  const std::string unk = model.get_string("unk_token", "");
  spec->unk_id = table->find(unk);
  spec->model = std::move(bpe);
}

}  // namespace embert::convert
