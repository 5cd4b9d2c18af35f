// SPDX-License-Identifier: Apache-2.0
// DistilBERT (Sanh et al. 2019): BERT's layers without segments and pooler, under other names. A
// sinusoidal position table is in the file like a learnt one.
#include "converter/import/config/stack_options.hpp"
#include "converter/import/families/families.hpp"

namespace embert::convert {
namespace {

constexpr std::string_view kModelTypes[] = {"distilbert"};

constexpr Architecture kArchitectures[] = {
    {"DistilBertModel"},
    {"DistilBertForMaskedLM", ClassifierTask::kNone, TokenTask::kNone, LanguageHeadKind::kBert},
    {"DistilBertForSequenceClassification", ClassifierTask::kSequenceClassification},
    {"DistilBertForMultipleChoice", ClassifierTask::kMultipleChoice},
    {"DistilBertForTokenClassification", ClassifierTask::kNone, TokenTask::kTokenClassification},
    {"DistilBertForQuestionAnswering", ClassifierTask::kNone, TokenTask::kQuestionAnswering}};

void read_distilbert_options(const JsonFields& config, StackConfig& out,
                             std::vector<std::string>& /*warnings*/) {
  read_pruned_heads(config, out);
}

void read_distilbert_head_options(const JsonFields& /*config*/, ModelConfig& out) {
  out.pooled.act = HiddenAct::kRelu;
}

constexpr TransformNames kPreClassifier = {
    .dense = "pre_classifier", .in_stack = false, .norm = {}};

constexpr StackNames stack_names() {
  StackNames names;
  names.prefix = "distilbert.";
  names.layers = "transformer.layer.";
  names.attention = {.query = "attention.q_lin",
                     .key = "attention.k_lin",
                     .value = "attention.v_lin",
                     .out = "attention.out_lin",
                     .norm = "sa_layer_norm",
                     .pre_norm = {}};
  names.ffn = {.up = "ffn.lin1", .down = "ffn.lin2", .norm = "output_layer_norm", .pre_norm = {}};
  return names;
}

}  // namespace

constinit const Family kDistilBert = {
    .model_types = kModelTypes,
    .keys = {.hidden_size = "dim",
             .num_layers = "n_layers",
             .num_heads = "n_heads",
             .intermediate_size = "hidden_dim",
             .hidden_act = "activation",
             .layer_norm_eps = nullptr,
             .type_vocab_size = nullptr},
    .read_options = read_distilbert_options,
    .architectures = kArchitectures,
    .read_head_options = read_distilbert_head_options,
    .stack = stack_names(),
    .heads = {.pooler = {},
              .sequence = {.dense = "classifier", .transform = kPreClassifier},
              .next_sentence = {},
              .multiple_choice = {.dense = "classifier", .transform = kPreClassifier},
              .token = {.dense = "classifier", .transform = {}},
              .answers = {.dense = "qa_outputs", .transform = {}},
              .replaced = {},
              .language = {.transform = {.dense = "vocab_transform",
                                         .in_stack = false,
                                         .norm = "vocab_layer_norm"},
                           .bias = "vocab_projector.bias",
                           .decoder = "vocab_projector"}}};

}  // namespace embert::convert
