// SPDX-License-Identifier: Apache-2.0
// One reader object takes tensors by name and remembers which it took; what is left over is sorted
// into harmless, other heads and unknown.
#include "converter/read_weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <utility>

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

class WeightReader {
 public:
  explicit WeightReader(const WeightFiles& files) : files_(files) {
    if (files_.find("bert.embeddings.word_embeddings.weight") != nullptr) prefix_ = "bert.";
  }

  bool has_encoder_tensor(const std::string& name) const {
    return files_.find(prefix_ + name) != nullptr;
  }

  // Tensors of the encoder carry the prefix, those of a head do not.
  Matrix matrix(const std::string& name, int rows, int cols) {
    const std::string full = prefix_ + name;
    Matrix out{static_cast<std::size_t>(rows), static_cast<std::size_t>(cols), {}};
    out.data = take(full, {}, {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols)});
    return out;
  }

  Linear linear(const std::string& name, int outputs, int inputs) {
    return plain_linear(prefix_ + name, outputs, inputs);
  }

  Linear plain_linear(const std::string& name, int outputs, int inputs) {
    Linear out;
    out.weight.rows = static_cast<std::size_t>(outputs);
    out.weight.cols = static_cast<std::size_t>(inputs);
    out.weight.data =
        take(name + ".weight", {},
             {static_cast<std::uint64_t>(outputs), static_cast<std::uint64_t>(inputs)});
    out.bias = take(name + ".bias", {}, {static_cast<std::uint64_t>(outputs)});
    return out;
  }

  LayerNorm layer_norm(const std::string& name, int size) {
    const std::string full = prefix_ + name;
    LayerNorm out;
    out.gamma = take(full + ".weight", full + ".gamma", {static_cast<std::uint64_t>(size)});
    out.beta = take(full + ".bias", full + ".beta", {static_cast<std::uint64_t>(size)});
    return out;
  }

  std::vector<std::string> left_over() const {
    std::vector<std::string> names = files_.names();
    std::erase_if(names, [&](const std::string& name) { return taken_.contains(name); });
    return names;
  }

 private:
  std::vector<float> take(const std::string& name, const std::string& old_name,
                          std::initializer_list<std::uint64_t> shape) {
    const std::string* found = &name;
    const TensorInfo* info = files_.find(name);
    if (info == nullptr && !old_name.empty()) {
      found = &old_name;
      info = files_.find(old_name);
    }
    const std::vector<std::uint64_t> expected(shape);
    const std::string where = files_.file_of(*found) + ": tensor \"";
    if (info == nullptr) {
      throw ConvertError(where + name + "\" " + shape_text(expected) +
                         " is missing; is this the folder of a complete BERT model?");
    }
    if (info->shape != expected) {
      throw ConvertError(where + *found + "\" must have shape " + shape_text(expected) +
                         " by config.json, found " + shape_text(info->shape));
    }
    std::vector<float> values = files_.read_float(*found);
    const auto bad = std::ranges::find_if(values, [](float x) { return !std::isfinite(x); });
    if (bad != values.end()) {
      throw ConvertError(where + *found + "\" holds " + std::to_string(*bad) + " at index " +
                         std::to_string(bad - values.begin()) + "; weights must be finite");
    }
    taken_.insert(*found);
    return values;
  }

  const WeightFiles& files_;
  std::string prefix_;
  std::set<std::string> taken_;
};

// `norm` is the LayerNorm in front of the layer and becomes the one behind it.
LayerWeights read_layer(WeightReader& reader, int index, const BertConfig& config,
                        LayerNorm& norm) {
  const std::string layer = "encoder.layer." + std::to_string(index) + ".";
  const int hidden = config.hidden_size;
  LayerWeights out;
  out.input_norm = std::move(norm);
  out.attention.query = reader.linear(layer + "attention.self.query", hidden, hidden);
  out.attention.key = reader.linear(layer + "attention.self.key", hidden, hidden);
  out.attention.value = reader.linear(layer + "attention.self.value", hidden, hidden);
  out.attention.output = reader.linear(layer + "attention.output.dense", hidden, hidden);
  out.ffn_norm = reader.layer_norm(layer + "attention.output.LayerNorm", hidden);
  out.intermediate = reader.linear(layer + "intermediate.dense", config.intermediate_size, hidden);
  out.output = reader.linear(layer + "output.dense", hidden, config.intermediate_size);
  norm = reader.layer_norm(layer + "output.LayerNorm", hidden);
  return out;
}

void warn_left_over(const std::vector<std::string>& names, std::vector<std::string>& warnings) {
  std::vector<std::string> heads, unknown;
  for (const std::string& name : names) {
    // Buffers that old versions of transformers stored: constants, not weights.
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

}  // namespace

ModelWeights read_weights(const WeightFiles& files, const ModelConfig& model,
                          std::vector<std::string>& warnings) {
  WeightReader reader(files);
  const BertConfig& config = model.first();
  const int hidden = config.hidden_size;
  ModelWeights weights;
  StackWeights& out = weights.stacks.emplace_back();
  out.word_embeddings =
      reader.matrix("embeddings.word_embeddings.weight", config.vocab_size, hidden);
  out.position_embeddings =
      reader.matrix("embeddings.position_embeddings.weight", config.stored_positions, hidden);
  out.position_embeddings.rows = static_cast<std::size_t>(config.max_position_embeddings);
  out.position_embeddings.data.resize(out.position_embeddings.rows * out.position_embeddings.cols);
  out.token_type_embeddings =
      reader.matrix("embeddings.token_type_embeddings.weight", config.type_vocab_size, hidden);
  LayerNorm norm = reader.layer_norm("embeddings.LayerNorm", hidden);
  for (int i = 0; i < config.num_hidden_layers; ++i) {
    out.layers.push_back(read_layer(reader, i, config, norm));
  }
  out.output_norm = std::move(norm);
  const bool classifies = model.classifier == ClassifierTask::kSequenceClassification;
  if (classifies || reader.has_encoder_tensor("pooler.dense.weight")) {
    weights.pooler = reader.linear("pooler.dense", hidden, hidden);
  }
  if (classifies) {
    weights.classifier =
        reader.plain_linear("classifier", static_cast<int>(model.label_names.size()), hidden);
  }
  warn_left_over(reader.left_over(), warnings);
  return weights;
}

}  // namespace embert::convert
