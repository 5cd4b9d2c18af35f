// SPDX-License-Identifier: Apache-2.0
// The task heads of RoBERTa's class in transformers, which MPNet's class has too.
#pragma once

#include "converter/import/families/family.hpp"

namespace embert::convert {

inline constexpr HeadNames kRobertaHeads = {
    .pooler = kPoolerNames,
    .sequence = {.dense = "classifier.out_proj",
                 .transform = {.dense = "classifier.dense", .in_stack = false, .norm = {}}},
    .next_sentence = {},
    .multiple_choice = {.dense = "classifier", .transform = kPoolerNames},
    .token = {.dense = "classifier", .transform = {}},
    .answers = {.dense = "qa_outputs", .transform = {}},
    .replaced = {},
    .language = {
        .transform = {.dense = "lm_head.dense", .in_stack = false, .norm = "lm_head.layer_norm"},
        .bias = "lm_head.bias",
        .decoder = "lm_head.decoder"}};

/// The masked-LM head computes GELU, whatever hidden_act is.
inline void read_roberta_head_options(const JsonFields& /*config*/, ModelConfig& out) {
  out.language_act = HiddenAct::kGelu;
}

}  // namespace embert::convert
