// SPDX-License-Identifier: Apache-2.0
// ALBERT (Lan et al. 2020): layers in groups that share weights, and embeddings of their own width.
#include "converter/import/config/stack_options.hpp"
#include "converter/import/families/families.hpp"

namespace embert::convert {
namespace {

constexpr std::string_view kAlbertTypes[] = {"albert"};

constexpr Architecture kAlbertArchitectures[] = {
    {"AlbertModel"},
    {"AlbertForMaskedLM", ClassifierTask::kNone, TokenTask::kNone, LanguageHeadKind::kBert},
    {"AlbertForSequenceClassification", ClassifierTask::kSequenceClassification},
    {"AlbertForMultipleChoice", ClassifierTask::kMultipleChoice},
    {"AlbertForTokenClassification", ClassifierTask::kNone, TokenTask::kTokenClassification},
    {"AlbertForQuestionAnswering", ClassifierTask::kNone, TokenTask::kQuestionAnswering}};

// Layer i of the config runs the inner_group_num layers of group i / (layers / num_hidden_groups).
void read_groups(const JsonFields& config, StackConfig& out) {
  const int layers = out.num_hidden_layers;
  const int groups = static_cast<int>(config.get_int("num_hidden_groups", 1, layers, 1));
  const int inner = static_cast<int>(
      config.get_int("inner_group_num", 1, static_cast<int>(kMaxLayers) / layers, 1));
  out.layers_of_group = inner;
  out.num_hidden_layers = layers * inner;
  for (int l = 0; l < layers; ++l) {
    // In doubles, as transformers computes it.
    const int group = static_cast<int>(l / (static_cast<double>(layers) / groups));
    for (int i = 0; i < inner; ++i) out.weights_of_layer.push_back(group * inner + i);
  }
  out.num_heads_of_layer.assign(static_cast<std::size_t>(out.num_hidden_layers),
                                out.num_attention_heads);
}

void read_albert_options(const JsonFields& config, StackConfig& out,
                         std::vector<std::string>& /*warnings*/) {
  if (!config.has("hidden_act")) out.hidden_act = HiddenAct::kGeluNew;
  out.projected_embedding_size = read_embedding_size(config, 128);
  read_groups(config, out);
  read_position_kind(config, out);
  refuse_decoder(config);
}

constexpr TransformNames kAlbertPooler = {.dense = "pooler", .in_stack = true, .norm = {}};

}  // namespace

constinit const Family kAlbert = {
    .model_types = kAlbertTypes,
    .keys = {},
    .read_options = read_albert_options,
    .architectures = kAlbertArchitectures,
    .read_head_options = nullptr,
    .stack = {.prefix = "albert.",
              .embedding_projection = "encoder.embedding_hidden_mapping_in",
              .layers = "encoder.albert_layer_groups.",
              .layers_of_group = "albert_layers.",
              .attention = {.query = "attention.query",
                            .key = "attention.key",
                            .value = "attention.value",
                            .out = "attention.dense",
                            .norm = "attention.LayerNorm",
                            .pre_norm = {}},
              .relative_positions = "attention.distance_embedding.weight",
              .ffn = {.up = "ffn",
                      .down = "ffn_output",
                      .norm = "full_layer_layer_norm",
                      .pre_norm = {}}},
    .heads = {.pooler = kAlbertPooler,
              .sequence = {.dense = "classifier", .transform = kAlbertPooler},
              .next_sentence = {},
              .multiple_choice = {.dense = "classifier", .transform = kAlbertPooler},
              .token = {.dense = "classifier", .transform = {}},
              .answers = {.dense = "qa_outputs", .transform = {}},
              .language = {.transform = {.dense = "predictions.dense",
                                         .in_stack = false,
                                         .norm = "predictions.LayerNorm"},
                           .bias = "predictions.bias",
                           .decoder = "predictions.decoder"}}};

}  // namespace embert::convert
