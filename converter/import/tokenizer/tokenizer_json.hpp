// SPDX-License-Identifier: Apache-2.0
// The sections of tokenizer.json: a reader for each of them, and for each kind of "model".
// All throw ConvertError; `file` stands in messages.
#pragma once

#include <string>
#include <vector>

#include "converter/import/json_file.hpp"
#include "converter/import/tokenizer/token_table.hpp"
#include "converter/model/tokenizer_spec.hpp"

namespace embert::convert {

/// Null: no steps. A Sequence becomes its steps.
std::vector<NormalizerStep> read_normalizer(const Json* value, const std::string& file);

/// Null: no steps. A Sequence becomes its steps.
std::vector<PreTokenizerStep> read_pre_tokenizer(const Json* value, const std::string& file);

/// Fills single, pair and trim_offsets. Null: a template without special tokens.
void read_post_processor(const Json* value, const TokenTable& table, TokenizerSpec* spec);

/// The steps of a tokenizer.json that a text takes before the model reads it.
struct TextSteps {
  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerStep> pre_tokenizer;
};

/// Read "model" into the table, and fill unk_id and TokenizerSpec::model.
void read_wordpiece_json(const JsonFields& model, TextSteps steps, TokenTable* table,
                         TokenizerSpec* spec);
void read_unigram_json(const JsonFields& model, TextSteps steps, TokenTable* table,
                       TokenizerSpec* spec);
void read_bpe_json(const JsonFields& model, TextSteps steps, TokenTable* table,
                   TokenizerSpec* spec);

/// The document of a tokenizer.json; `file` stands in messages.
TokenizerSpec parse_tokenizer_json(const Json& root, const std::string& file);

}  // namespace embert::convert
