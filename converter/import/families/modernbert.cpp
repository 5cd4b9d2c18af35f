// SPDX-License-Identifier: Apache-2.0
// ModernBERT (Warner et al. 2024): rotary positions, local and global attention, gated feed-forward
// networks, pre-LayerNorm with a LayerNorm behind the embeddings in place of layer 0's own.
#include <algorithm>
#include <string>

#include "converter/convert_error.hpp"
#include "converter/import/config/stack_options.hpp"
#include "converter/import/families/families.hpp"

namespace embert::convert {
namespace {

constexpr std::string_view kModernBertTypes[] = {"modernbert"};

constexpr Architecture kModernBertArchitectures[] = {
    {"ModernBertModel"},
    {"ModernBertForMaskedLM", ClassifierTask::kNone, TokenTask::kNone, LanguageHeadKind::kBert},
    {"ModernBertForSequenceClassification", ClassifierTask::kSequenceClassification},
    {"ModernBertForMultipleChoice", ClassifierTask::kMultipleChoice},
    {"ModernBertForTokenClassification", ClassifierTask::kNone, TokenTask::kTokenClassification},
    {"ModernBertForQuestionAnswering", ClassifierTask::kNone, TokenTask::kQuestionAnswering}};

// Kinds of layers.
constexpr const char* kFullAttention = "full_attention";
constexpr const char* kSlidingAttention = "sliding_attention";

double read_theta(const JsonFields& config, const char* key, double absent) {
  const double theta = config.get_number(key, absent);
  if (!(theta > 1) || theta > 1e12) {
    throw ConvertError(config.file() + ": \"" + key +
                       "\" must be above 1 and at most 1e12, found " +
                       describe_json(*config.find(key)));
  }
  return theta;
}

// Of one kind of layers in rope_parameters.
double read_layer_theta(const JsonFields& parameters, const char* kind, double absent) {
  const Json* value = parameters.find(kind);
  if (value == nullptr) return absent;
  const JsonFields fields(*value, parameters.file() + ": " + kind);
  const std::string type = fields.get_string("rope_type", fields.get_string("type", "default"));
  if (type != "default") {
    refuse_option(fields.file(), "rope_type \"" + printable(type) + "\"", "default is");
  }
  return read_theta(fields, "rope_theta", absent);
}

// transformers 4 writes two keys, transformers 5 rope_parameters in their place.
RotaryConfig read_rotary(const JsonFields& config) {
  if (config.has("rope_scaling")) {
    refuse_option(config.file(), "rope_scaling", "rotary positions without scaling are");
  }
  RotaryConfig out;
  out.theta = read_theta(config, "global_rope_theta", 160000);
  const bool same = config.is_null("local_rope_theta");
  out.local_theta = same ? out.theta : read_theta(config, "local_rope_theta", 10000);
  const Json* value = config.find("rope_parameters");
  if (value == nullptr) return out;
  const JsonFields parameters(*value, config.file() + ": rope_parameters");
  for (const auto& item : value->items()) {
    if (item.key() != kFullAttention && item.key() != kSlidingAttention) {
      refuse_option(parameters.file(), std::string("\"").append(printable(item.key())).append("\""),
                    "full_attention and sliding_attention are");
    }
  }
  out.theta = read_layer_theta(parameters, kFullAttention, out.theta);
  out.local_theta = read_layer_theta(parameters, kSlidingAttention, out.local_theta);
  return out;
}

// transformers 5 also writes the kind of each layer, which counts before the period.
int read_period(const JsonFields& config, int layers) {
  const auto period = static_cast<int>(config.get_int("global_attn_every_n_layers", 1, 1 << 16, 3));
  const Json* types = config.find("layer_types");
  if (types == nullptr) return period;
  const auto count = static_cast<std::size_t>(layers);
  const auto is_known = [](const Json& type) {
    return type == kFullAttention || type == kSlidingAttention;
  };
  if (!types->is_array() || types->size() != count || !std::ranges::all_of(*types, is_known)) {
    throw ConvertError(
        config.file() + ": layer_types must be an array of " + std::to_string(count) +
        " times full_attention or sliding_attention, found " + describe_json(*types));
  }
  std::size_t found = 1;
  while (found < count && (*types)[found] != kFullAttention) ++found;
  for (std::size_t i = 0; i < count; ++i) {
    if (((*types)[i] == kFullAttention) != (i % found == 0)) {
      refuse_option(
          config.file(),
          "layer_types with " + (*types)[i].get<std::string>() + " in layer " + std::to_string(i),
          "full_attention in every n-th layer from layer 0 on is");
    }
  }
  return static_cast<int>(found);
}

void read_modernbert_options(const JsonFields& config, StackConfig& out,
                             std::vector<std::string>& /*warnings*/) {
  if (out.head_size() % 2 != 0) {
    refuse_option(config.file(), "a head size of " + std::to_string(out.head_size()),
                  "rotary positions turn pairs of channels: it must be even");
  }
  if (!config.has("norm_eps")) out.layer_norm_eps = 1e-5;
  out.norm_position = NormPosition::kPre;
  out.embedding_layer_norm = out.final_layer_norm = true;
  out.rotary = read_rotary(config);
  out.local_attention = LocalAttentionConfig{
      .period = read_period(config, out.num_hidden_layers),
      .reach = static_cast<int>(config.get_int("local_attention", 0, 1 << 16, 128)) / 2};
  out.gated_ffn = true;
  out.attention_bias = config.get_bool("attention_bias", false);
  out.ffn_bias = config.get_bool("mlp_bias", false);
  out.norm_bias = config.get_bool("norm_bias", false);
}

void read_modernbert_head_options(const JsonFields& config, ModelConfig& out) {
  const std::string pooling = config.get_string("classifier_pooling", "cls");
  if (pooling != "cls" && pooling != "mean") {
    refuse_option(config.file(), "classifier_pooling \"" + printable(pooling) + "\"",
                  "cls and mean are");
  }
  const HiddenAct act = read_hidden_act(config, "classifier_activation");
  out.pooled = {.dense = true, .mean = pooling == "mean", .act = act};
  out.token_act = out.language_act = act;
  out.transform_bias = config.get_bool("classifier_bias", false);
  out.output_bias = config.get_bool("decoder_bias", true);
}

constexpr TransformNames kModernBertHead = {
    .dense = "head.dense", .in_stack = false, .norm = "head.norm"};

}  // namespace

constinit const Family kModernBert = {
    .model_types = kModernBertTypes,
    .keys = {.hidden_act = "hidden_activation",
             .layer_norm_eps = "norm_eps",
             .type_vocab_size = nullptr},
    .read_options = read_modernbert_options,
    .architectures = kModernBertArchitectures,
    .read_head_options = read_modernbert_head_options,
    .stack = {.prefix = "model.",
              .word_embeddings = "embeddings.tok_embeddings.weight",
              .embedding_norm = "embeddings.norm",
              .layers = "layers.",
              .attention = {.query = {},
                            .key = {},
                            .value = {},
                            .out = "attn.Wo",
                            .fused = "attn.Wqkv",
                            .norm = {},
                            .pre_norm = "attn_norm"},
              .ffn = {.up = "mlp.Wi", .down = "mlp.Wo", .norm = {}, .pre_norm = "mlp_norm"},
              .final_norm = "final_norm"},
    .heads = {
        .pooler = {},
        .sequence = {.dense = "classifier", .transform = kModernBertHead},
        .next_sentence = {},
        .multiple_choice = {.dense = "classifier", .transform = kModernBertHead},
        .token = {.dense = "classifier", .transform = kModernBertHead},
        .answers = {.dense = "classifier", .transform = kModernBertHead},
        .replaced = {},
        .language = {.transform = kModernBertHead, .bias = "decoder.bias", .decoder = "decoder"}}};

}  // namespace embert::convert
