// SPDX-License-Identifier: Apache-2.0
// Reads the stacks, the projection between them and the task heads, and last reports the tensors
// that are left over.
#include "converter/import/weights/read_weights.hpp"

#include <algorithm>
#include <cmath>

#include "converter/convert_error.hpp"
#include "converter/import/families/family.hpp"
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

// The names of a stack's tensors have a prefix in models with a task head.
std::string stack_prefix(const TensorPicker& tensors, const StackNames& names,
                         const std::string& base) {
  const std::string prefix = joined(base, names.prefix);
  return tensors.has(joined(prefix, names.word_embeddings)) ? prefix : base;
}

// Prefixes of tensor names: of the task heads, and of the stack that they stand on.
struct Prefixes {
  std::string heads, stack;

  std::string of(const TransformNames& names) const {
    return joined(names.in_stack ? stack : heads, names.dense);
  }
};

// Output embeddings whose first values are those of the word embeddings, or of a table as wide.
Matrix read_wide_rows(TensorPicker& tensors, const Family& family, const Prefixes& prefixes,
                      const ModelConfig& config) {
  const LanguageHeadNames& names = family.heads.language;
  const StackConfig& stack = config.last();
  const int rest = stack.hidden_size - stack.word_size();
  const std::string decoder = joined(prefixes.heads, names.decoder) + ".weight";
  const std::string words = joined(prefixes.stack, family.stack.word_embeddings);
  const Matrix first =
      tensors.matrix(config.tied_output ? words : decoder, stack.vocab_size, stack.word_size());
  if (config.tied_output) tensors.skip_copy(decoder, first.data, words);
  const std::string rest_name = joined(prefixes.heads, names.rest) + ".weight";
  if (rest == 0) {
    tensors.skip(rest_name);
    return first;
  }
  const Matrix columns = tensors.matrix(rest_name, rest, stack.vocab_size);
  Matrix out{first.rows, first.cols + columns.rows, {}};
  for (std::size_t id = 0; id < out.rows; ++id) {
    out.data.insert(out.data.end(), first.row(id), first.row(id) + first.cols);
    for (std::size_t c = 0; c < columns.rows; ++c) out.data.push_back(columns.row(c)[id]);
  }
  return out;
}

LanguageHead read_language_head(TensorPicker& tensors, const Family& family,
                                const Prefixes& prefixes, const ModelConfig& config,
                                const Matrix& words) {
  const int hidden = config.last().hidden_size, vocab = config.last().vocab_size;
  LanguageHead out;
  if (config.language_head == LanguageHeadKind::kLinear) {
    Linear linear = tensors.linear("lm_head", vocab, hidden);
    out.output_embeddings = std::move(linear.weight);
    out.bias = std::move(linear.bias);
    return out;
  }
  const LanguageHeadNames& names = family.heads.language;
  const std::string bias = joined(prefixes.heads, names.bias);
  const std::string decoder = joined(prefixes.heads, names.decoder);
  const int size = config.last().embedding_size();
  out.transform = tensors.linear(prefixes.of(names.transform), size, hidden, config.transform_bias);
  out.norm = tensors.layer_norm(joined(prefixes.heads, names.transform.norm), size,
                                config.last().norm_bias);
  if (config.output_bias) {
    out.bias = tensors.vector(bias, vocab);
    tensors.skip_copy(decoder + ".bias", out.bias, bias);
  } else {
    out.bias.resize(words.rows);
  }
  if (!names.rest.empty()) {
    out.output_embeddings = read_wide_rows(tensors, family, prefixes, config);
  } else if (!config.tied_output) {
    out.output_embeddings = tensors.matrix(decoder + ".weight", vocab, size);
  } else {
    tensors.skip_copy(decoder + ".weight", words.data,
                      joined(prefixes.stack, family.stack.word_embeddings));
    // embedding_scale does not apply to the output embeddings; `words` is not scaled yet.
    if (config.last().embedding_scale != 1) out.output_embeddings = words;
  }
  return out;
}

const ClassifierNames& classifier_names(const HeadNames& names, ClassifierTask task) {
  if (task == ClassifierTask::kNextSentence) return names.next_sentence;
  return task == ClassifierTask::kMultipleChoice ? names.multiple_choice : names.sequence;
}

const ClassifierNames& classifier_names(const HeadNames& names, TokenTask task) {
  if (task == TokenTask::kQuestionAnswering) return names.answers;
  return task == TokenTask::kReplacedToken ? names.replaced : names.token;
}

HeadTransform read_transform(TensorPicker& tensors, const TransformNames& names,
                             const Prefixes& prefixes, const ModelConfig& config) {
  const int hidden = config.last().hidden_size;
  HeadTransform out;
  out.dense = tensors.linear(prefixes.of(names), hidden, hidden, config.transform_bias);
  if (!names.norm.empty()) {
    out.norm =
        tensors.layer_norm(joined(prefixes.heads, names.norm), hidden, config.last().norm_bias);
  }
  return out;
}

// The logit of the label "O" (TokenTask::kReplacedToken) is 0.
void prepend_zero_row(Linear& linear) {
  linear.weight.data.insert(linear.weight.data.begin(), linear.weight.cols, 0.0F);
  ++linear.weight.rows;
  linear.bias.insert(linear.bias.begin(), 0.0F);
}

void read_task_heads(TensorPicker& tensors, const Family& family, const Prefixes& prefixes,
                     const ModelConfig& config, ModelWeights& out) {
  const HeadNames& names = family.heads;
  const int hidden = config.last().hidden_size;
  const int labels = static_cast<int>(config.label_names.size());
  if (config.classifier != ClassifierTask::kNone) {
    const ClassifierNames& classifier = classifier_names(names, config.classifier);
    if (config.pooled.dense) {
      out.pooler = read_transform(tensors, classifier.transform, prefixes, config);
    }
    out.classifier = tensors.linear(joined(prefixes.heads, classifier.dense), labels, hidden);
  } else if (config.pooled.dense && tensors.has(prefixes.of(names.pooler) + ".weight")) {
    out.pooler = read_transform(tensors, names.pooler, prefixes, config);
  }
  if (config.token_classifier != TokenTask::kNone) {
    const ClassifierNames& classifier = classifier_names(names, config.token_classifier);
    if (!classifier.transform.dense.empty()) {
      out.token_transform = read_transform(tensors, classifier.transform, prefixes, config);
    }
    const bool replaced = config.token_classifier == TokenTask::kReplacedToken;
    out.token_classifier =
        tensors.linear(joined(prefixes.heads, classifier.dense), replaced ? 1 : labels, hidden);
    if (replaced) prepend_zero_row(*out.token_classifier);
  }
  if (config.language_head != LanguageHeadKind::kNone) {
    out.language_head =
        read_language_head(tensors, family, prefixes, config, out.stacks.back().word_embeddings);
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

// "cls" of "cls.predictions.bias"
std::string_view first_part(std::string_view name) { return name.substr(0, name.find('.')); }

// Whether `name` begins as one of the family's task heads does.
bool names_a_head(const HeadNames& heads, std::string_view name) {
  const std::string_view known[] = {
      heads.sequence.dense, heads.next_sentence.dense, heads.multiple_choice.dense,
      heads.token.dense,    heads.answers.dense,       heads.replaced.dense,
      heads.language.bias,  heads.language.decoder,    heads.language.transform.dense};
  return std::ranges::any_of(known, [&](std::string_view head) {
    return !head.empty() && first_part(head) == first_part(name);
  });
}

void warn_left_over(const std::vector<std::string>& names, const HeadNames& known,
                    std::vector<std::string>& warnings) {
  std::vector<std::string> heads, unknown;
  for (const std::string& name : names) {
    // Old versions of transformers stored these constants among the weights.
    if (name.ends_with("embeddings.position_ids") || name.ends_with("embeddings.token_type_ids"))
      continue;
    (names_a_head(known, name) ? heads : unknown).push_back(name);
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
  const Family& family = family_of(config);
  const StackNames& names = family.stack;
  ModelWeights out;
  Prefixes prefixes;
  if (config.stacks.size() == 1) {
    prefixes.stack = stack_prefix(tensors, names, "");
    out.stacks.push_back(read_stack_weights(tensors, names, prefixes.stack, config.first()));
  } else {
    const std::string encoder = stack_prefix(tensors, names, "encoder.");
    out.stacks.push_back(read_stack_weights(tensors, names, encoder, config.first()));
    // The decoder reads the hidden states, not the pooled vector.
    for (const char* part : {".weight", ".bias"}) {
      tensors.skip(joined(encoder, family.heads.pooler.dense) + part);
    }
    prefixes.heads = "decoder.";
    prefixes.stack = stack_prefix(tensors, names, prefixes.heads);
    out.stacks.push_back(read_stack_weights(tensors, names, prefixes.stack, config.last()));
    const int from = config.first().hidden_size, to = config.last().cross_hidden_size;
    if (from != to) out.projection = tensors.linear("enc_to_dec_proj", to, from);
  }
  read_task_heads(tensors, family, prefixes, config, out);
  limit_biases(config, out, warnings);
  for (std::size_t s = 0; s < out.stacks.size(); ++s)
    scale_word_embeddings(config.stacks[s], out.stacks[s]);
  warn_left_over(tensors.left_over(), family.heads, warnings);
  return out;
}

}  // namespace embert::convert
