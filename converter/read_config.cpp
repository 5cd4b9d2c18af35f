// SPDX-License-Identifier: Apache-2.0
// Reads config.json: refuses first what is not supported, then the numbers with their ranges, then
// the head.
#include "converter/read_config.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "converter/json_file.hpp"

namespace embert::convert {
namespace {

constexpr const char* kFile = "config.json";
constexpr std::uint32_t kMaxStoredPositions = 1 << 16;

struct ActName {
  std::string_view name;
  HiddenAct act;
};

// Every spelling of transformers for the functions that embert computes; the first of each is our
// own.
constexpr ActName kActNames[] = {{"gelu", HiddenAct::kGelu},
                                 {"gelu_python", HiddenAct::kGelu},
                                 {"gelu_new", HiddenAct::kGeluNew},
                                 {"gelu_fast", HiddenAct::kGeluNew},
                                 {"gelu_accurate", HiddenAct::kGeluNew},
                                 {"gelu_pytorch_tanh", HiddenAct::kGeluNew},
                                 {"relu", HiddenAct::kRelu},
                                 {"silu", HiddenAct::kSilu},
                                 {"swish", HiddenAct::kSilu},
                                 {"tanh", HiddenAct::kTanh}};

[[noreturn]] void unsupported(const std::string& option, const std::string& supported) {
  throw ConvertError(std::string(kFile) + ": " + option + " is not supported; " + supported);
}

// The one place that says which members and options of the family are computed.
void check_supported(const JsonFields& config, std::vector<std::string>& warnings) {
  const std::string type = config.get_string("model_type", "");
  if (type.empty()) {
    warnings.push_back(std::string(kFile) + ": no \"model_type\"; read as bert");
  } else if (type != "bert") {
    unsupported("model_type \"" + printable(type) + "\"", "embert reads model_type \"bert\"");
  }
  const std::string positions = config.get_string("position_embedding_type", "absolute");
  if (positions != "absolute") {
    unsupported("position_embedding_type \"" + printable(positions) + "\"", "only \"absolute\" is");
  }
  const std::string norm = config.get_string("norm_position", "post");
  if (norm != "post") unsupported("norm_position \"" + printable(norm) + "\"", "only \"post\" is");

  struct Switch {
    const char* key;
    bool plain;
    const char* meaning;
  };
  constexpr Switch kSwitches[] = {{"is_encoder_decoder", false, "a decoder beside the encoder"},
                                  {"is_decoder", false, "a causal decoder"},
                                  {"add_cross_attention", false, "cross-attention"},
                                  {"embedding_layer_norm", true, "embeddings without LayerNorm"},
                                  {"final_layer_norm", false, "a LayerNorm after the last layer"}};
  for (const Switch& option : kSwitches) {
    if (config.get_bool(option.key, option.plain) != option.plain) {
      unsupported(std::string(option.key) + " " + (option.plain ? "false" : "true") + " (" +
                      option.meaning + ")",
                  "embert converts plain encoders");
    }
  }
  if (const Json* pruned = config.find("pruned_heads"); pruned != nullptr && !pruned->empty()) {
    unsupported("pruned_heads", "embert converts encoders with all their heads");
  }
  if (const double scale = config.get_number("embedding_scale", 1.0); scale != 1.0) {
    unsupported("embedding_scale " + describe_json(*config.find("embedding_scale")), "only 1 is");
  }
  if (config.has("auto_map")) {
    warnings.push_back(std::string(kFile) +
                       ": auto_map names code of the model's own; converted as a plain BERT");
  }
}

HiddenAct read_hidden_act(const JsonFields& config) {
  const std::string name = config.get_string("hidden_act", "gelu");
  for (const ActName& known : kActNames) {
    if (known.name == name) return known.act;
  }
  unsupported("hidden_act \"" + printable(name) + "\"", "gelu, gelu_new, relu, silu and tanh are");
}

std::vector<std::string> read_architectures(const JsonFields& config) {
  std::vector<std::string> names;
  const Json* list = config.find("architectures");
  if (list == nullptr) return names;
  const bool strings = list->is_array() && std::ranges::all_of(*list, [](const Json& name) {
                         return name.is_string();
                       });
  if (!strings) {
    throw ConvertError(std::string(kFile) +
                       ": \"architectures\" must be an array of strings, found " +
                       describe_json(*list));
  }
  for (const Json& name : *list) names.push_back(name.get<std::string>());
  return names;
}

// id2label is an object {"0": name, "1": name, ...}; without it transformers counts num_labels,
// else 2.
std::vector<std::string> read_label_names(const JsonFields& config) {
  const Json* labels = config.find("id2label");
  std::vector<std::string> names;
  if (labels == nullptr) {
    const auto count = config.get_int("num_labels", 1, kMaxLabels, 2);
    for (std::int64_t i = 0; i < count; ++i) names.push_back("LABEL_" + std::to_string(i));
    return names;
  }
  const std::string where = std::string(kFile) + ": id2label";
  if (!labels->is_object() || labels->empty() || labels->size() > kMaxLabels) {
    throw ConvertError(where + " must be an object with 1 to " + std::to_string(kMaxLabels) +
                       " names, found " + describe_json(*labels));
  }
  for (std::size_t i = 0; i < labels->size(); ++i) {
    const auto at = labels->find(std::to_string(i));
    if (at == labels->end()) {
      throw ConvertError(where + " has " + std::to_string(labels->size()) +
                         " names, but none for \"" + std::to_string(i) + "\"");
    }
    if (!at->is_string() && !at->is_number_integer()) {
      throw ConvertError(where + ": \"" + std::to_string(i) + "\" must be a string, found " +
                         describe_json(*at));
    }
    names.push_back(at->is_string() ? at->get<std::string>() : at->dump());
  }
  config.get_int("num_labels", static_cast<std::int64_t>(names.size()),
                 static_cast<std::int64_t>(names.size()), static_cast<std::int64_t>(names.size()));
  return names;
}

ProblemType read_problem_type(const JsonFields& config, std::size_t labels) {
  // transformers decides by the number of labels when nothing is said.
  const std::string name =
      config.get_string("problem_type", labels == 1 ? "regression" : "single_label_classification");
  if (name == "single_label_classification") return ProblemType::kSingleLabel;
  if (name == "multi_label_classification") return ProblemType::kMultiLabel;
  if (name == "regression") return ProblemType::kRegression;
  throw ConvertError(std::string(kFile) + ": problem_type \"" + printable(name) +
                     "\" is unknown; expected single_label_classification, "
                     "multi_label_classification or regression");
}

void read_head(const JsonFields& config, ModelConfig& out, std::vector<std::string>& warnings) {
  constexpr std::array<std::string_view, 4> kEncoders = {"BertModel", "BertForMaskedLM",
                                                         "BertForPreTraining", "BertLMHeadModel"};
  const std::vector<std::string> architectures = read_architectures(config);
  if (architectures.empty()) return;
  const std::string& name = architectures[0];
  if (name == "BertForSequenceClassification") {
    out.classifier = ClassifierTask::kSequenceClassification;
    out.label_names = read_label_names(config);
    out.problem_type = read_problem_type(config, out.label_names.size());
  } else if (std::ranges::find(kEncoders, name) == kEncoders.end()) {
    warnings.push_back(std::string(kFile) + ": head of architecture " + printable(name) +
                       " is not supported; converted as an encoder");
  }
}

}  // namespace

const char* hidden_act_name(HiddenAct act) {
  for (const ActName& known : kActNames) {
    if (known.act == act) return known.name.data();
  }
  return "?";
}

ModelConfig read_config(const std::filesystem::path& folder, std::vector<std::string>& warnings) {
  const Json document = read_json_file(folder / kFile, kFile);
  const JsonFields config(document, kFile);
  check_supported(config, warnings);

  const auto number = [&](const char* key, std::uint32_t max) {
    return static_cast<int>(config.get_int(key, 1, max));
  };
  constexpr int kMostPositions = kMaxPositions;
  ModelConfig model;
  BertConfig& out = model.stacks.emplace_back();
  out.hidden_size = number("hidden_size", kMaxHiddenSize);
  out.num_hidden_layers = number("num_hidden_layers", kMaxLayers);
  out.num_attention_heads = number("num_attention_heads", kMaxHeads);
  out.intermediate_size = number("intermediate_size", kMaxIntermediateSize);
  out.vocab_size = number("vocab_size", kMaxVocabSize);
  out.stored_positions = number("max_position_embeddings", kMaxStoredPositions);
  out.max_position_embeddings = std::min(out.stored_positions, kMostPositions);
  out.type_vocab_size = static_cast<int>(config.get_int("type_vocab_size", 1, kMaxTypes, 2));
  model.pad_token_id = static_cast<int>(config.get_int("pad_token_id", -1, out.vocab_size - 1, -1));
  out.hidden_act = read_hidden_act(config);
  out.num_heads_of_layer.assign(static_cast<std::size_t>(out.num_hidden_layers),
                                out.num_attention_heads);
  out.layer_norm_eps = config.get_number("layer_norm_eps", 1e-12);

  if (out.hidden_size % out.num_attention_heads != 0) {
    throw ConvertError(std::string(kFile) + ": num_attention_heads " +
                       std::to_string(out.num_attention_heads) + " does not divide hidden_size " +
                       std::to_string(out.hidden_size));
  }
  if (out.head_size() > static_cast<int>(kMaxHeadSize)) {
    throw ConvertError(std::string(kFile) + ": hidden_size / num_attention_heads is " +
                       std::to_string(out.head_size()) + "; at most " +
                       std::to_string(kMaxHeadSize) + " is supported");
  }
  if (!(out.layer_norm_eps > 0) || out.layer_norm_eps > 1) {
    throw ConvertError(std::string(kFile) +
                       ": \"layer_norm_eps\" must be above 0 and at most 1, found " +
                       describe_json(*config.find("layer_norm_eps")));
  }
  if (out.stored_positions > kMostPositions) {
    warnings.push_back(std::string(kFile) + ": max_position_embeddings " +
                       std::to_string(out.stored_positions) + "; the first " +
                       std::to_string(kMaxPositions) + " are kept");
  }
  read_head(config, model, warnings);
  return model;
}

}  // namespace embert::convert
