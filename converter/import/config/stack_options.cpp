// SPDX-License-Identifier: Apache-2.0
// Each function reads one option and refuses values that no kernel computes.
#include "converter/import/config/stack_options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string_view>

#include "converter/import/config/read_config.hpp"

namespace embert::convert {
namespace {

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

HiddenAct read_hidden_act(const JsonFields& config, const char* key) {
  const std::string name = config.get_string(key, "gelu");
  for (const ActName& known : kActNames) {
    if (known.name == name) return known.act;
  }
  refuse_option(config.file(), std::string(key) + " \"" + printable(name) + "\"",
                "gelu, gelu_new, relu, silu and tanh are");
}

void read_position_kind(const JsonFields& config, StackConfig& out) {
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

void check_head_size(const JsonFields& config, const char* key, const StackConfig& stack,
                     const char* heads_key) {
  const int width = stack.intra_size(), heads = stack.num_attention_heads;
  if (width % heads != 0) {
    throw ConvertError(config.file() + ": " + heads_key + " " + std::to_string(heads) +
                       " does not divide " + key + " " + std::to_string(width));
  }
  if (stack.head_size() > static_cast<int>(kMaxHeadSize)) {
    throw ConvertError(config.file() + ": " + key + " / " + heads_key + " is " +
                       std::to_string(stack.head_size()) + "; at most " +
                       std::to_string(kMaxHeadSize) + " is supported");
  }
}

int read_embedding_size(const JsonFields& config, int otherwise) {
  return static_cast<int>(config.get_int("embedding_size", 1, kMaxHiddenSize, otherwise));
}

void read_norm_position(const JsonFields& config, StackConfig& out) {
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

void read_embedding_scale(const JsonFields& config, StackConfig& out) {
  out.embedding_scale = config.get_number("embedding_scale", 1.0);
  if (!(out.embedding_scale > 0) || out.embedding_scale > kMaxEmbeddingScale) {
    throw ConvertError(config.file() +
                       ": \"embedding_scale\" must be above 0 and at most 1000000, found " +
                       describe_json(*config.find("embedding_scale")));
  }
}

// {"0": [1], "1": [0, 2]}: the attention heads that each layer lacks.
void read_pruned_heads(const JsonFields& config, StackConfig& out) {
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

void set_padding_positions(const JsonFields& config, int padding_id, StackConfig& out) {
  if (out.position_kind != PositionKind::kAbsolute || out.sinusoidal) return;
  if (padding_id >= out.vocab_size) {
    throw ConvertError(config.file() + ": pad_token_id " + std::to_string(padding_id) +
                       " is no id of the vocabulary of " + std::to_string(out.vocab_size));
  }
  out.first_position_row = padding_id + 1;
  out.padding_position_id = padding_id;
  if (out.first_position_row >= out.stored_positions) {
    throw ConvertError(config.file() + ": max_position_embeddings " +
                       std::to_string(out.stored_positions) + " leaves no position behind row " +
                       std::to_string(padding_id) + ", that of pad_token_id");
  }
}

void refuse_decoder(const JsonFields& config) {
  for (const char* key : {"is_decoder", "add_cross_attention"}) {
    if (config.get_bool(key, false)) {
      refuse_option(config.file(), std::string(key) + " true",
                    "of decoders embert runs BERT's (model_type \"bert\")");
    }
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

}  // namespace embert::convert
