// SPDX-License-Identifier: Apache-2.0
// Unigram of tokenizer.json: pieces with their scores, by id.
#include <cmath>
#include <utility>

#include "converter/convert_error.hpp"
#include "converter/import/tokenizer/tokenizer_json.hpp"

namespace embert::convert {
namespace {

// ["piece", score]
double read_piece(const Json& entry, std::uint32_t id, TokenTable* table) {
  const std::string where = "model: \"vocab\": entry " + std::to_string(id);
  if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
    table->fail(where + " must be a piece and its score, found " + describe_json(entry));
  }
  const std::string piece = entry[0].get<std::string>();
  if (piece.empty()) table->fail(where + " is an empty piece");
  const double score = entry[1].get<double>();
  if (!std::isfinite(score)) {
    table->fail(where + ": score of \"" + printable(piece, 40) + "\" is not finite");
  }
  table->add(piece, id, true);
  return score;
}

}  // namespace

void read_unigram_json(const JsonFields& model, TextSteps steps, TokenTable* table,
                       TokenizerSpec* spec) {
  UnigramSpec unigram;
  const Json* vocab = model.find("vocab");
  if (vocab == nullptr || !vocab->is_array() || vocab->empty()) {
    table->fail("model: \"vocab\" must be an array of pieces and scores");
  }
  for (const Json& entry : *vocab) {
    const auto id = static_cast<std::uint32_t>(unigram.scores.size());
    unigram.scores.push_back(read_piece(entry, id, table));
  }
  if (!model.has("unk_id")) {
    table->fail("model: \"unk_id\" is missing; embert needs a piece for unknown characters");
  }
  const auto last = static_cast<std::int64_t>(unigram.scores.size()) - 1;
  spec->unk_id = static_cast<std::uint32_t>(model.get_int("unk_id", 0, last));
  unigram.byte_fallback = model.get_bool("byte_fallback", false);
  unigram.normalizer = std::move(steps.normalizer);
  unigram.pre_tokenizer = std::move(steps.pre_tokenizer);
  spec->model = std::move(unigram);
}

}  // namespace embert::convert
