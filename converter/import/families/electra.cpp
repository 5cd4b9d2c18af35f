// SPDX-License-Identifier: Apache-2.0
// ELECTRA (Clark et al. 2020): BERT without a pooler, with embeddings of their own width.
#include "converter/import/config/stack_options.hpp"
#include "converter/import/families/families.hpp"

namespace embert::convert {
namespace {

constexpr std::string_view kElectraTypes[] = {"electra"};

constexpr Architecture kElectraArchitectures[] = {
    {"ElectraModel"},
    {"ElectraForPreTraining", ClassifierTask::kNone, TokenTask::kReplacedToken},
    {"ElectraForMaskedLM", ClassifierTask::kNone, TokenTask::kNone, LanguageHeadKind::kBert},
    {"ElectraForSequenceClassification", ClassifierTask::kSequenceClassification},
    {"ElectraForTokenClassification", ClassifierTask::kNone, TokenTask::kTokenClassification},
    {"ElectraForQuestionAnswering", ClassifierTask::kNone, TokenTask::kQuestionAnswering}};

void read_electra_options(const JsonFields& config, StackConfig& out,
                          std::vector<std::string>& /*warnings*/) {
  const int size = read_embedding_size(config, 128);
  if (size != out.hidden_size) out.projected_embedding_size = size;
  read_position_kind(config, out);
  read_pruned_heads(config, out);
  refuse_decoder(config);
}

void read_electra_head_options(const JsonFields& /*config*/, ModelConfig& out) {
  out.pooled.act = HiddenAct::kGelu;  // whatever hidden_act is
  out.language_act = HiddenAct::kGelu;
}

constexpr TransformNames kElectraDense = {
    .dense = "classifier.dense", .in_stack = false, .norm = {}};

constexpr StackNames electra_names() {
  StackNames names;
  names.prefix = "electra.";
  names.embedding_projection = "embeddings_project";
  return names;
}

}  // namespace

constinit const Family kElectra = {
    .model_types = kElectraTypes,
    .keys = {},
    .read_options = read_electra_options,
    .architectures = kElectraArchitectures,
    .read_head_options = read_electra_head_options,
    .stack = electra_names(),
    .heads = {.pooler = {},
              .sequence = {.dense = "classifier.out_proj", .transform = kElectraDense},
              .next_sentence = {},
              .multiple_choice = {},
              .token = {.dense = "classifier", .transform = {}},
              .answers = {.dense = "qa_outputs", .transform = {}},
              .replaced = {.dense = "discriminator_predictions.dense_prediction",
                           .transform = {.dense = "discriminator_predictions.dense",
                                         .in_stack = false,
                                         .norm = {}}},
              .language = {.transform = {.dense = "generator_predictions.dense",
                                         .in_stack = false,
                                         .norm = "generator_predictions.LayerNorm"},
                           .bias = "generator_lm_head.bias",
                           .decoder = "generator_lm_head"}}};

}  // namespace embert::convert
