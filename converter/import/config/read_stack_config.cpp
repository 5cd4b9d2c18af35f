// SPDX-License-Identifier: Apache-2.0
// Reads the sizes, then the options, and refuses combinations that do not go together.
#include "converter/import/config/read_stack_config.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string_view>

#include "converter/import/config/read_config.hpp"

namespace embert::convert {
namespace {

constexpr std::uint32_t kMaxStoredPositions = 1 << 16;
constexpr double kMaxEmbeddingScale = 1e6;

struct ActName {
  std::string_view name;
  HiddenAct act;
};

// Every spelling of transformers for the functions that embert computes. hidden_act_name() returns
// the first of each.
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

HiddenAct read_hidden_act(const JsonFields& config) {
  const std::string name = config.get_string("hidden_act", "gelu");
  for (const ActName& known : kActNames) {
    if (known.name == name) return known.act;
  }
  refuse_option(config.file(), "hidden_act \"" + printable(name) + "\"",
                "gelu, gelu_new, relu, silu and tanh are");
}

void read_sizes(const JsonFields& config, StackConfig& out, std::vector<std::string>& warnings) {
  const auto size = [&](const char* key, std::uint32_t max) {
    return static_cast<int>(config.get_int(key, 1, max));
  };
  constexpr int kMostPositions = kMaxPositions;
  out.hidden_size = size("hidden_size", kMaxHiddenSize);
  out.num_hidden_layers = size("num_hidden_layers", kMaxLayers);
  out.num_attention_heads = size("num_attention_heads", kMaxHeads);
  out.intermediate_size = size("intermediate_size", kMaxIntermediateSize);
  out.vocab_size = size("vocab_size", kMaxVocabSize);
  out.stored_positions = size("max_position_embeddings", kMaxStoredPositions);
  out.max_position_embeddings = std::min(out.stored_positions, kMostPositions);
  const auto types = static_cast<int>(config.get_int("type_vocab_size", 0, kMaxTypes, 2));
  out.stored_types = types > 0;
  out.type_vocab_size = std::max(1, types);
  // Checked only: the number of rows that the feed-forward block takes at once changes no result.
  config.get_int("chunk_size_feed_forward", 0, kMaxStoredPositions, 0);

  if (out.hidden_size % out.num_attention_heads != 0) {
    throw ConvertError(config.file() + ": num_attention_heads " +
                       std::to_string(out.num_attention_heads) + " does not divide hidden_size " +
                       std::to_string(out.hidden_size));
  }
  if (out.head_size() > static_cast<int>(kMaxHeadSize)) {
    throw ConvertError(config.file() + ": hidden_size / num_attention_heads is " +
                       std::to_string(out.head_size()) + "; at most " +
                       std::to_string(kMaxHeadSize) + " is supported");
  }
  if (out.stored_positions > kMostPositions) {
    warnings.push_back(config.file() + ": max_position_embeddings " +
                       std::to_string(out.stored_positions) + "; the first " +
                       std::to_string(kMaxPositions) + " are kept");
  }
}

void read_positions(const JsonFields& config, StackConfig& out) {
  const std::string kind = config.get_string("position_embedding_type", "absolute");
  if (kind == "relative_key") {
    out.position_kind = PositionKind::kRelativeKey;
  } else if (kind == "relative_key_query") {
    out.position_kind = PositionKind::kRelativeKeyQuery;
  } else if (kind == "sinusoidal") {
    out.sinusoidal = true;
  } else if (kind != "absolute") {
    refuse_option(config.file(), "position_embedding_type \"" + printable(kind) + "\"",
                  "absolute, relative_key, relative_key_query and sinusoidal are");
  }
}

void read_norms(const JsonFields& config, StackConfig& out) {
  out.layer_norm_eps = config.get_number("layer_norm_eps", 1e-12);
  if (!(out.layer_norm_eps > 0) || out.layer_norm_eps > 1) {
    throw ConvertError(config.file() +
                       ": \"layer_norm_eps\" must be above 0 and at most 1, found " +
                       describe_json(*config.find("layer_norm_eps")));
  }
  const std::string position = config.get_string("norm_position", "post");
  if (position != "post" && position != "pre") {
    refuse_option(config.file(), "norm_position \"" + printable(position) + "\"",
                  "post and pre are");
  }
  const bool pre = position == "pre";
  out.norm_position = pre ? NormPosition::kPre : NormPosition::kPost;
  out.embedding_layer_norm = config.get_bool("embedding_layer_norm", true);
  out.final_layer_norm = config.get_bool("final_layer_norm", false);
  if (out.final_layer_norm != pre) {
    refuse_option(config.file(),
                  std::string("final_layer_norm ") + (pre ? "false" : "true") +
                      " with norm_position \"" + position + "\"",
                  "a LayerNorm behind the last layer belongs to norm_position \"pre\"");
  }
  if (pre && out.embedding_layer_norm) {
    refuse_option(config.file(), "embedding_layer_norm true with norm_position \"pre\"",
                  "a pre-LayerNorm stack adds to the embeddings as they are");
  }
}

// {"0": [1], "1": [0, 2]}: the attention heads that each layer lacks.
void read_pruned_heads(const JsonFields& config, StackConfig& out) {
  out.num_heads_of_layer.assign(static_cast<std::size_t>(out.num_hidden_layers),
                                out.num_attention_heads);
  const Json* pruned = config.find("pruned_heads");
  if (pruned == nullptr) return;
  const std::string where = config.file() + ": pruned_heads";
  if (!pruned->is_object()) {
    throw ConvertError(where + " must be an object: layer -> its pruned heads, found " +
                       describe_json(*pruned));
  }
  for (const auto& item : pruned->items()) {
    const std::string& key = item.key();
    int layer = -1;
    const char* const end = key.data() + key.size();
    if (std::from_chars(key.data(), end, layer).ptr != end || layer < 0 ||
        layer >= out.num_hidden_layers) {
      throw ConvertError(where + ": \"" + printable(key) + "\" is no layer; there are 0 to " +
                         std::to_string(out.num_hidden_layers - 1));
    }
    const auto head_ok = [&](const Json& head) {
      return head.is_number_unsigned() &&
             head.get<std::uint64_t>() < static_cast<std::uint64_t>(out.num_attention_heads);
    };
    if (!item.value().is_array() || !std::ranges::all_of(item.value(), head_ok)) {
      throw ConvertError(
          where + ": \"" + key + "\" must be an array of heads from 0 to " +
          std::to_string(out.num_attention_heads - 1) + ", found " +
          printable(item.value().dump(-1, ' ', false, Json::error_handler_t::replace), 60));
    }
    std::set<int> heads;
    for (const Json& head : item.value()) heads.insert(head.get<int>());
    int& left = out.num_heads_of_layer[static_cast<std::size_t>(layer)];
    left = out.num_attention_heads - static_cast<int>(heads.size());
    if (left == 0) refuse_option(where, "a layer without heads (\"" + key + "\")", "one must stay");
  }
}

void read_decoder(const JsonFields& config, StackConfig& out) {
  out.is_decoder = config.get_bool("is_decoder", false);
  out.cross_attention = config.get_bool("add_cross_attention", false);
  if (!out.cross_attention) return;
  if (!out.is_decoder) {
    refuse_option(config.file(), "add_cross_attention true with is_decoder false",
                  "cross-attention belongs to decoders");
  }
  out.cross_hidden_size = static_cast<int>(
      config.get_int("cross_attention_hidden_size", 1, kMaxHiddenSize, out.hidden_size));
}

}  // namespace

void refuse_option(const std::string& file, const std::string& option,
                   const std::string& supported) {
  throw ConvertError(file + ": " + option + " is not supported; " + supported);
}

const char* hidden_act_name(HiddenAct act) {
  for (const ActName& known : kActNames) {
    if (known.act == act) return known.name.data();
  }
  return "?";
}

StackConfig read_stack_config(const JsonFields& config, std::vector<std::string>& warnings) {
  StackConfig out;
  read_sizes(config, out, warnings);
  out.hidden_act = read_hidden_act(config);
  read_positions(config, out);
  read_norms(config, out);
  out.embedding_scale = config.get_number("embedding_scale", 1.0);
  if (!(out.embedding_scale > 0) || out.embedding_scale > kMaxEmbeddingScale) {
    throw ConvertError(config.file() +
                       ": \"embedding_scale\" must be above 0 and at most 1000000, found " +
                       describe_json(*config.find("embedding_scale")));
  }
  read_pruned_heads(config, out);
  read_decoder(config, out);
  return out;
}

}  // namespace embert::convert
