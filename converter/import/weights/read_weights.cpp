// SPDX-License-Identifier: Apache-2.0
// Reads the stacks, the projection between them and the task heads, and last reports the tensors
// that are left over.
#include "converter/import/weights/read_weights.hpp"

#include <algorithm>
#include <cmath>

#include "converter/convert_error.hpp"
#include "converter/import/weights/read_stack_weights.hpp"
#include "converter/import/weights/tensor_picker.hpp"
#include "converter/import/weights/weight_files.hpp"

namespace embert::convert {
namespace {

// "a, b, c and 4 more"
std::string list_names(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    text += (i == 0 ? "" : ", ") + printable(names[i]);
  }
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

// The names of a stack's tensors begin with "bert." in models with a task head.
std::string stack_prefix(const TensorPicker& tensors, const std::string& base) {
  const std::string prefix = base + "bert.";
  return tensors.has(prefix + "embeddings.word_embeddings.weight") ? prefix : base;
}

// `base` stands before the names of the task heads, `prefix` before those of their stack's tensors.
LanguageHead read_language_head(TensorPicker& tensors, const std::string& base,
                                const std::string& prefix, const ModelConfig& config,
                                const Matrix& words) {
  const int hidden = config.last().hidden_size, vocab = config.last().vocab_size;
  LanguageHead out;
  if (config.language_head == LanguageHeadKind::kLinear) {
    Linear linear = tensors.linear("lm_head", vocab, hidden);
    out.output_embeddings = std::move(linear.weight);
    out.bias = std::move(linear.bias);
    return out;
  }
  const std::string name = base + "cls.predictions.";
  out.transform = tensors.linear(name + "transform.dense", hidden, hidden);
  out.norm = tensors.layer_norm(name + "transform.LayerNorm", hidden);
  out.bias = tensors.vector(name + "bias", vocab);
  tensors.skip_copy(name + "decoder.bias", out.bias, name + "bias");
  if (!config.tied_output) {
    out.output_embeddings = tensors.matrix(name + "decoder.weight", vocab, hidden);
  } else {
    tensors.skip_copy(name + "decoder.weight", words.data,
                      prefix + "embeddings.word_embeddings.weight");
    // embedding_scale does not apply to the output embeddings; `words` is not scaled yet.
    if (config.last().embedding_scale != 1) out.output_embeddings = words;
  }
  return out;
}

void read_task_heads(TensorPicker& tensors, const std::string& base, const std::string& prefix,
                     const ModelConfig& config, ModelWeights& out) {
  const int hidden = config.last().hidden_size;
  const int labels = static_cast<int>(config.label_names.size());
  if (config.classifier != ClassifierTask::kNone || tensors.has(prefix + "pooler.dense.weight")) {
    out.pooler = tensors.linear(prefix + "pooler.dense", hidden, hidden);
  }
  if (config.classifier != ClassifierTask::kNone) {
    const bool next = config.classifier == ClassifierTask::kNextSentence;
    out.classifier =
        tensors.linear(base + (next ? "cls.seq_relationship" : "classifier"), labels, hidden);
  }
  if (config.token_classifier != TokenTask::kNone) {
    const bool answers = config.token_classifier == TokenTask::kQuestionAnswering;
    out.token_classifier =
        tensors.linear(base + (answers ? "qa_outputs" : "classifier"), labels, hidden);
  }
  if (config.language_head != LanguageHeadKind::kNone) {
    out.language_head =
        read_language_head(tensors, base, prefix, config, out.stacks.back().word_embeddings);
  }
}

// Limits biases that ban or force a label to +-10000: the score is 0 or 1 long before that, and the
// other logits keep their precision. Not where logits are the result itself (`plain`, regression).
void limit_bias(std::vector<float>& bias, bool plain, const std::string& name,
                std::vector<std::string>& warnings) {
  constexpr float kLargestBias = 1e4f;
  std::size_t beyond = 0;
  for (float& value : bias) {
    if (plain || std::fabs(value) <= kLargestBias) continue;
    value = std::copysign(kLargestBias, value);
    ++beyond;
  }
  if (beyond == 0) return;
  warnings.push_back(name + ": " + std::to_string(beyond) +
                     " values beyond +-10000 are taken as that: scores are 0 or 1 there");
}

void limit_biases(const ModelConfig& config, ModelWeights& weights,
                  std::vector<std::string>& warnings) {
  const bool plain = config.problem_type == ProblemType::kRegression;
  if (weights.classifier) limit_bias(weights.classifier->bias, plain, "classifier.bias", warnings);
  if (weights.token_classifier) {
    limit_bias(weights.token_classifier->bias, false, "the token classifier's bias", warnings);
  }
  if (weights.language_head)
    limit_bias(weights.language_head->bias, false, "the words' bias", warnings);
}

void warn_left_over(const std::vector<std::string>& names, std::vector<std::string>& warnings) {
  std::vector<std::string> heads, unknown;
  for (const std::string& name : names) {
    // Old versions of transformers stored these constants among the weights.
    if (name.ends_with("embeddings.position_ids") || name.ends_with("embeddings.token_type_ids"))
      continue;
    const bool head = name.starts_with("cls.") || name.starts_with("qa_outputs.") ||
                      name.starts_with("classifier.");
    (head ? heads : unknown).push_back(name);
  }
  if (!heads.empty()) {
    warnings.push_back("weights of a head that is not converted: " + list_names(heads));
  }
  if (!unknown.empty()) warnings.push_back("unknown tensors left out: " + list_names(unknown));
}

void scale_word_embeddings(const StackConfig& config, StackWeights& stack) {
  for (float& value : stack.word_embeddings.data) {
    value *= static_cast<float>(config.embedding_scale);
  }
}

}  // namespace

ModelWeights read_weights(const WeightFiles& files, const ModelConfig& config,
                          std::vector<std::string>& warnings) {
  TensorPicker tensors(files);
  ModelWeights out;
  std::string base, prefix;
  if (config.stacks.size() == 1) {
    prefix = stack_prefix(tensors, base);
    out.stacks.push_back(read_stack_weights(tensors, prefix, config.first()));
  } else {
    prefix = stack_prefix(tensors, "encoder.");
    out.stacks.push_back(read_stack_weights(tensors, prefix, config.first()));
    for (const char* part : {"weight", "bias"}) {
      tensors.skip(prefix + "pooler.dense." +
                   part);  // the decoder reads the hidden states, not the pooled vector
    }
    base = "decoder.";
    prefix = stack_prefix(tensors, base);
    out.stacks.push_back(read_stack_weights(tensors, prefix, config.last()));
    const int from = config.first().hidden_size, to = config.last().cross_hidden_size;
    if (from != to) out.projection = tensors.linear("enc_to_dec_proj", to, from);
  }
  read_task_heads(tensors, base, prefix, config, out);
  limit_biases(config, out, warnings);
  for (std::size_t s = 0; s < out.stacks.size(); ++s)
    scale_word_embeddings(config.stacks[s], out.stacks[s]);
  warn_left_over(tensors.left_over(), warnings);
  return out;
}

}  // namespace embert::convert
