// SPDX-License-Identifier: Apache-2.0
// A family of encoders as data: what its config.json and its tensors are called, and what sets it
// apart from BERT. The readers of config/ and weights/ are the same for all families.
//
// A new family is a file of this folder that defines a Family, and a row in families.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "converter/import/families/tensor_names.hpp"
#include "converter/import/json_file.hpp"
#include "converter/model/model_config.hpp"

namespace embert::convert {

/// Keys of config.json. A null key: the family does not have the field, and its default holds.
struct ConfigKeys {
  const char* hidden_size = "hidden_size";
  const char* num_layers = "num_hidden_layers";
  const char* num_heads = "num_attention_heads";
  const char* intermediate_size = "intermediate_size";
  const char* hidden_act = "hidden_act";          ///< gelu
  const char* layer_norm_eps = "layer_norm_eps";  ///< 1e-12
  bool heads_divide_hidden = true;  ///< false: read_options checks the size of attention heads
  const char* type_vocab_size = "type_vocab_size";  ///< without it no segments; absent in a file: 2
};

/// The task heads of an architecture of transformers.
struct Architecture {
  std::string_view name;
  ClassifierTask classifier = ClassifierTask::kNone;
  TokenTask token_classifier = TokenTask::kNone;
  LanguageHeadKind language_head = LanguageHeadKind::kNone;
};

struct Family {
  std::span<const std::string_view> model_types;  ///< of config.json
  ConfigKeys keys;
  /// Reads what only this family has, after the fields of `keys`; refuses what embert does not
  /// compute. Throws ConvertError.
  void (*read_options)(const JsonFields& config, StackConfig& out,
                       std::vector<std::string>& warnings);
  std::span<const Architecture> architectures;
  /// Sets ModelConfig::pooled, token_act and language_act where the defaults do not hold, or null.
  void (*read_head_options)(const JsonFields& config, ModelConfig& out);
  StackNames stack;
  HeadNames heads;
};

/// The family with `model_type`; null where there is none.
const Family* find_family(std::string_view model_type);

/// Throws ConvertError: `file` has a model_type that embert does not convert, and why.
[[noreturn]] void refuse_model_type(const std::string& file, const std::string& model_type);

/// The names for a config that read_config() made.
const Family& family_of(const ModelConfig& config);

}  // namespace embert::convert
