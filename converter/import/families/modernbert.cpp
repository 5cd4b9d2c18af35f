// SPDX-License-Identifier: Apache-2.0
// ModernBERT (Warner et al. 2024): rotary positions, local and global attention, gated feed-forward
// networks, pre-LayerNorm with a LayerNorm behind the embeddings in place of layer 0's own.
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

double read_theta(const JsonFields& config, const char* key, double absent) {
  const double theta = config.get_number(key, absent);
  if (!(theta > 1) || theta > 1e12) {
    throw ConvertError(config.file() + ": \"" + key +
                       "\" must be above 1 and at most 1e12, found " +
                       describe_json(*config.find(key)));
  }
  return theta;
}

void read_modernbert_options(const JsonFields& config, StackConfig& out,
                             std::vector<std::string>& /*warnings*/) {
  if (out.head_size() % 2 != 0) {
    refuse_option(config.file(), "a head size of " + std::to_string(out.head_size()),
                  "rotary positions turn pairs of channels: it must be even");
  }
  // transformers 5 writes these in place of the keys below.
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    if (config.has(key)) {
      refuse_option(config.file(), std::string(key),
                    "global_rope_theta and local_rope_theta, as transformers 4 writes them, are");
    }
  }
  if (!config.has("norm_eps")) out.layer_norm_eps = 1e-5;
  out.norm_position = NormPosition::kPre;
  out.embedding_layer_norm = out.final_layer_norm = true;
  out.rotary =
      RotaryConfig{.theta = read_theta(config, "global_rope_theta", 160000), .local_theta = 0};
  // transformers takes null for "the same"; a JsonFields does not tell null from absent.
  out.rotary->local_theta = read_theta(config, "local_rope_theta", out.rotary->theta);
  out.local_attention = LocalAttentionConfig{
      .period = static_cast<int>(config.get_int("global_attn_every_n_layers", 1, 1 << 16, 3)),
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
