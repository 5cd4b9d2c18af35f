// SPDX-License-Identifier: Apache-2.0
// MPNet (Song et al. 2020): BERT's layers with one table of score biases for all of them, by
// buckets of relative positions, and positions counted from the padding id.
#include "converter/import/config/stack_options.hpp"
#include "converter/import/families/families.hpp"
#include "converter/import/families/roberta_heads.hpp"

namespace embert::convert {
namespace {

// transformers' class has these fixed, whatever config.json says.
constexpr int kPaddingId = 1, kBuckets = 32;

constexpr std::string_view kModelTypes[] = {"mpnet"};

constexpr Architecture kArchitectures[] = {
    {"MPNetModel"},
    {"MPNetForMaskedLM", ClassifierTask::kNone, TokenTask::kNone, LanguageHeadKind::kBert},
    {"MPNetForSequenceClassification", ClassifierTask::kSequenceClassification},
    {"MPNetForMultipleChoice", ClassifierTask::kMultipleChoice},
    {"MPNetForTokenClassification", ClassifierTask::kNone, TokenTask::kTokenClassification},
    {"MPNetForQuestionAnswering", ClassifierTask::kNone, TokenTask::kQuestionAnswering}};

void read_mpnet_options(const JsonFields& config, StackConfig& out,
                        std::vector<std::string>& /*warnings*/) {
  const auto buckets = config.get_int("relative_attention_num_buckets", 1, 1 << 16, kBuckets);
  if (buckets != kBuckets) {
    refuse_option(config.file(), "relative_attention_num_buckets " + std::to_string(buckets),
                  "transformers computes MPNet with 32");
  }
  if (const Json* pruned = config.find("pruned_heads"); pruned != nullptr && !pruned->empty()) {
    refuse_option(config.file(), "pruned_heads of MPNet",
                  "its table of score biases is for all attention heads");
  }
  out.score_bias = true;
  set_padding_positions(config, kPaddingId, out);
}

constexpr StackNames stack_names() {
  StackNames names;
  names.prefix = "mpnet.";
  names.attention = {.query = "attention.attn.q",
                     .key = "attention.attn.k",
                     .value = "attention.attn.v",
                     .out = "attention.attn.o",
                     .norm = "attention.LayerNorm",
                     .pre_norm = {}};
  names.score_bias = "encoder.relative_attention_bias.weight";
  return names;
}

constexpr ConfigKeys config_keys() {
  ConfigKeys keys;
  keys.type_vocab_size = nullptr;
  return keys;
}

}  // namespace

constinit const Family kMpnet = {.model_types = kModelTypes,
                                 .keys = config_keys(),
                                 .read_options = read_mpnet_options,
                                 .architectures = kArchitectures,
                                 .read_head_options = read_roberta_head_options,
                                 .stack = stack_names(),
                                 .heads = kRobertaHeads};

}  // namespace embert::convert
