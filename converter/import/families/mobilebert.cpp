// SPDX-License-Identifier: Apache-2.0
// MobileBERT (Sun et al. 2020): narrow layers between bottlenecks, several feed-forward networks in
// a layer, words that are read with their neighbours, and mostly NoNorm in place of LayerNorm.
#include "converter/import/config/stack_options.hpp"
#include "converter/import/families/families.hpp"

namespace embert::convert {
namespace {

constexpr std::string_view kMobileBertTypes[] = {"mobilebert"};

constexpr Architecture kMobileBertArchitectures[] = {
    {"MobileBertModel"},
    {"MobileBertForPreTraining", ClassifierTask::kNextSentence, TokenTask::kNone,
     LanguageHeadKind::kBert},
    {"MobileBertForMaskedLM", ClassifierTask::kNone, TokenTask::kNone, LanguageHeadKind::kBert},
    {"MobileBertForNextSentencePrediction", ClassifierTask::kNextSentence},
    {"MobileBertForSequenceClassification", ClassifierTask::kSequenceClassification},
    {"MobileBertForMultipleChoice", ClassifierTask::kMultipleChoice},
    {"MobileBertForTokenClassification", ClassifierTask::kNone, TokenTask::kTokenClassification},
    {"MobileBertForQuestionAnswering", ClassifierTask::kNone, TokenTask::kQuestionAnswering}};

void read_words(const JsonFields& config, StackConfig& out) {
  const int size = read_embedding_size(config, 128);
  if (size > out.hidden_size) {
    refuse_option(config.file(),
                  "embedding_size " + std::to_string(size) + " above hidden_size " +
                      std::to_string(out.hidden_size),
                  "words up to hidden_size are");
  }
  out.trigrams = config.get_bool("trigram_input", true);
  if (out.trigrams || size != out.hidden_size) out.projected_word_size = size;
}

BottleneckKind read_bottleneck_kind(const JsonFields& config) {
  if (!config.get_bool("use_bottleneck", true)) return BottleneckKind::kNone;
  const bool shared = config.get_bool("key_query_shared_bottleneck", true);
  if (config.get_bool("use_bottleneck_attention", false)) return BottleneckKind::kInput;
  return shared ? BottleneckKind::kShared : BottleneckKind::kOutput;
}

void read_bottleneck(const JsonFields& config, StackConfig& out) {
  constexpr const char* kSize = "intra_bottleneck_size";
  out.bottleneck = read_bottleneck_kind(config);
  if (!out.has_bottleneck()) return check_head_size(config, "hidden_size", out);
  out.bottleneck_size = static_cast<int>(config.get_int(kSize, 1, out.hidden_size, 128));
  if (out.bottleneck_size > out.hidden_size) {  // where the file has none
    refuse_option(config.file(), "no intra_bottleneck_size, which means 128, above hidden_size",
                  "up to hidden_size is");
  }
  if (out.bottleneck == BottleneckKind::kOutput && out.bottleneck_size != out.hidden_size) {
    refuse_option(config.file(),
                  "use_bottleneck without use_bottleneck_attention and key_query_shared_bottleneck",
                  "it needs intra_bottleneck_size to be hidden_size, as in transformers");
  }
  check_head_size(config, kSize, out);
}

void read_mobilebert_options(const JsonFields& config, StackConfig& out,
                             std::vector<std::string>& /*warnings*/) {
  if (!config.has("hidden_act")) out.hidden_act = HiddenAct::kRelu;
  read_words(config, out);
  read_bottleneck(config, out);
  out.num_ffns = static_cast<int>(config.get_int("num_feedforward_networks", 1, kMaxFfns, 4));
  const std::string norm = config.get_string("normalization_type", "no_norm");
  if (norm != "no_norm" && norm != "layer_norm") {
    refuse_option(config.file(), "normalization_type \"" + printable(norm) + "\"",
                  "no_norm and layer_norm are");
  }
  out.layer_norms = norm == "layer_norm";
  out.closing_norm_eps = 1e-5;  // transformers leaves these at the default of PyTorch
  read_pruned_heads(config, out);
  refuse_decoder(config);
}

void read_mobilebert_head_options(const JsonFields& config, ModelConfig& out) {
  out.pooled.dense = config.get_bool("classifier_activation", true);
}

constexpr StackNames mobilebert_names() {
  StackNames names;
  names.prefix = "mobilebert.";
  names.word_projection = "embeddings.embedding_transformation";
  names.stacked_ffns = "ffn.";
  names.bottleneck_input = {"bottleneck.input.dense", "bottleneck.input.LayerNorm"};
  names.bottleneck_query_key = {"bottleneck.attention.dense", "bottleneck.attention.LayerNorm"};
  names.bottleneck_output = {"output.bottleneck.dense", "output.bottleneck.LayerNorm"};
  return names;
}

}  // namespace

constinit const Family kMobileBert = {
    .model_types = kMobileBertTypes,
    .keys = {.heads_divide_hidden = false},
    .read_options = read_mobilebert_options,
    .architectures = kMobileBertArchitectures,
    .read_head_options = read_mobilebert_head_options,
    .stack = mobilebert_names(),
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
                           .decoder = "cls.predictions.decoder",
                           .rest = "cls.predictions.dense"}}};

}  // namespace embert::convert
