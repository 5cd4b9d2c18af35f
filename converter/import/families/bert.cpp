// SPDX-License-Identifier: Apache-2.0
// BERT (Devlin et al. 2019) with the options that transformers and other projects gave it: relative
// and sinusoidal positions, pre-LayerNorm, decoders with cross-attention.
#include "converter/import/config/stack_options.hpp"
#include "converter/import/families/families.hpp"

namespace embert::convert {
namespace {

constexpr std::string_view kModelTypes[] = {"bert"};

constexpr Architecture kArchitectures[] = {
    {"BertModel"},
    {"BertForPreTraining", ClassifierTask::kNextSentence, TokenTask::kNone,
     LanguageHeadKind::kBert},
    {"BertForMaskedLM", ClassifierTask::kNone, TokenTask::kNone, LanguageHeadKind::kBert},
    {"BertLMHeadModel", ClassifierTask::kNone, TokenTask::kNone, LanguageHeadKind::kBert},
    {"BertForNextSentencePrediction", ClassifierTask::kNextSentence},
    {"BertForSequenceClassification", ClassifierTask::kSequenceClassification},
    {"BertForMultipleChoice", ClassifierTask::kMultipleChoice},
    {"BertForTokenClassification", ClassifierTask::kNone, TokenTask::kTokenClassification},
    {"BertForQuestionAnswering", ClassifierTask::kNone, TokenTask::kQuestionAnswering}};

void read_bert_options(const JsonFields& config, StackConfig& out,
                       std::vector<std::string>& /*warnings*/) {
  read_position_kind(config, out);
  read_norm_position(config, out);
  read_embedding_scale(config, out);
  read_pruned_heads(config, out);
  read_decoder(config, out);
}

}  // namespace

constinit const Family kBert = {
    .model_types = kModelTypes,
    .keys = {},
    .read_options = read_bert_options,
    .architectures = kArchitectures,
    .read_head_options = nullptr,
    .stack = {},
    .heads = {.pooler = kPoolerNames,
              .sequence = {.dense = "classifier", .transform = kPoolerNames},
              .next_sentence = {.dense = "cls.seq_relationship", .transform = kPoolerNames},
              .multiple_choice = {.dense = "classifier", .transform = kPoolerNames},
              .token = {.dense = "classifier", .transform = {}},
              .answers = {.dense = "qa_outputs", .transform = {}},
              .replaced = {},
              .language = {.transform = {.dense = "cls.predictions.transform.dense",
                                         .in_stack = false,
                                         .norm = "cls.predictions.transform.LayerNorm"},
                           .bias = "cls.predictions.bias",
                           .decoder = "cls.predictions.decoder"}}};

}  // namespace embert::convert
