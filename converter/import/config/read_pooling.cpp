// SPDX-License-Identifier: Apache-2.0
// The modules must be Transformer and Pooling, or StaticEmbedding, then Dense and Normalize; the
// error for another chain names the module that does not fit.
#include "converter/import/config/read_pooling.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "converter/convert_error.hpp"
#include "converter/import/config/read_dense_module.hpp"
#include "converter/import/json_file.hpp"
#include "converter/import/weights/weight_files.hpp"

namespace embert::convert {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModules = "modules.json";
constexpr int kMaxSequence = 1 << 20;

struct Module {
  std::string kind;  // last part of the Python type: "Pooling"
  std::string path;
};

// "1_Pooling" and "config.json" -> "1_Pooling/config.json"
std::string inner_file(const std::string& folder, const char* file) {
  return folder.empty() ? file : (fs::path(folder) / file).generic_string();
}

std::vector<Module> read_modules(const fs::path& folder) {
  const Json document = read_json_file(folder / kModules, kModules);
  if (!document.is_array() || document.empty()) {
    throw ConvertError(std::string(kModules) + ": expected an array of modules, found " +
                       describe_json(document));
  }
  std::vector<Module> modules;
  for (const Json& entry : document) {
    const JsonFields fields(entry,
                            std::string(kModules) + ": module " + std::to_string(modules.size()));
    const std::string type = fields.get_string("type");
    Module module{type.substr(type.rfind('.') + 1), fields.get_string("path", "")};
    check_inner_path(module.path, fields.file());
    // Messages about the module's files begin with it.
    if (const std::string shown = printable(module.path); shown != module.path) {
      throw ConvertError(fields.file() + ": path \"" + shown +
                         "\" is too long or holds control characters");
    }
    modules.push_back(std::move(module));
  }
  return modules;
}

// A mode is on by a key of its own, or is a value of pooling_mode, as sentence-transformers 5.7
// writes it. Several keys stand side by side in this order, several values in theirs.
struct Mode {
  const char* key;
  const char* name;
  PoolingKind kind;
};
constexpr Mode kModes[] = {
    {"pooling_mode_cls_token", "cls", PoolingKind::kCls},
    {"pooling_mode_max_tokens", "max", PoolingKind::kMax},
    {"pooling_mode_mean_tokens", "mean", PoolingKind::kMean},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", PoolingKind::kMeanSqrtLength},
    {"pooling_mode_weightedmean_tokens", "weightedmean", PoolingKind::kWeightedMean},
    {"pooling_mode_lasttoken", "lasttoken", PoolingKind::kLastToken}};

PoolingKind kind_of_name(const JsonFields& fields, const Json& value) {
  std::string names;
  for (const Mode& mode : kModes) {
    if (value == mode.name) return mode.kind;
    names += (names.empty() ? "" : ", ") + std::string(mode.name);
  }
  throw ConvertError(fields.file() + ": pooling_mode must be one of " + names + ", found " +
                     describe_json(value));
}

std::vector<PoolingKind> kinds_by_name(const JsonFields& fields) {
  const Json& value = *fields.find("pooling_mode");
  if (!value.is_array()) return {kind_of_name(fields, value)};
  if (value.empty() || value.size() > kMaxPoolings) {
    throw ConvertError(fields.file() + ": pooling_mode has " + std::to_string(value.size()) +
                       " modes; expected 1 to " + std::to_string(kMaxPoolings));
  }
  std::vector<PoolingKind> kinds;
  for (const Json& mode : value) kinds.push_back(kind_of_name(fields, mode));
  return kinds;
}

std::vector<PoolingKind> kinds_by_keys(const JsonFields& fields) {
  std::vector<PoolingKind> kinds;
  for (const Mode& mode : kModes) {
    if (fields.get_bool(mode.key, false)) kinds.push_back(mode.kind);
  }
  if (kinds.empty()) {
    throw ConvertError(
        fields.file() +
        ": no pooling mode is on; expected one of "
        "pooling_mode_mean_tokens, pooling_mode_cls_token and pooling_mode_max_tokens");
  }
  return kinds;
}

void read_pooling_module(const fs::path& folder, const std::string& path, PoolingConfig& out) {
  out.pooling_file = inner_file(path, "config.json");
  const Json document = read_json_file(folder / path / "config.json", out.pooling_file);
  const JsonFields fields(document, out.pooling_file);
  const bool names_modes = fields.has("pooling_mode");
  const char* size_key = names_modes ? "embedding_dimension" : "word_embedding_dimension";
  out.pooled_size = static_cast<int>(fields.get_int(size_key, 1, 1 << 20, 0));
  out.kinds = names_modes ? kinds_by_name(fields) : kinds_by_keys(fields);
  // sentence-transformers then leaves the prompt's tokens out of the mean or maximum.
  const bool first_alone =
      std::ranges::all_of(out.kinds, [](PoolingKind kind) { return kind == PoolingKind::kCls; });
  if (!fields.get_bool("include_prompt", true) && !first_alone) {
    throw ConvertError(out.pooling_file +
                       ": include_prompt false is not supported; with true the tokens of a prompt "
                       "count in the vector, and vectors without prompt stay the same");
  }
}

[[noreturn]] void refuse_module(const std::vector<Module>& modules, std::size_t i) {
  throw ConvertError(std::string(kModules) + ": module " + std::to_string(i) + " \"" +
                     printable(modules[i].kind) +
                     "\" is not supported; expected Transformer, Pooling, then perhaps Dense and "
                     "Normalize");
}

// The modules behind pooling, from number `first` on.
void read_vector_modules(const fs::path& folder, const std::vector<Module>& modules,
                         std::size_t first, PoolingConfig& out) {
  out.normalize = false;
  for (std::size_t i = first; i < modules.size(); ++i) {
    if (modules[i].kind == "Normalize" && !out.normalize) {
      out.normalize = true;
    } else if (modules[i].kind == "Dense" && out.dense.size() < kMaxVectorDense) {
      VectorDense dense = read_dense_module(folder, modules[i].path);
      dense.normalize_input = out.normalize;
      out.normalize = false;
      out.dense.push_back(std::move(dense));
    } else {
      refuse_module(modules, i);
    }
  }
}

// The file has a name for each kind of model that old versions of sentence-transformers ran.
void read_sequence_file(const fs::path& folder, PoolingConfig& out) {
  for (const char* const name :
       {"sentence_bert_config.json", "sentence_roberta_config.json",
        "sentence_distilbert_config.json", "sentence_camembert_config.json",
        "sentence_albert_config.json", "sentence_xlm-roberta_config.json",
        "sentence_xlnet_config.json"}) {
    const std::string file = inner_file(out.transformer_folder, name);
    if (!file_exists(folder / file)) continue;
    const Json document = read_json_file(folder / file, file);
    const JsonFields fields(document, file);
    out.sequence_file = file;
    if (fields.has("max_seq_length")) {
      out.max_seq_length = static_cast<int>(fields.get_int("max_seq_length", 1, kMaxSequence));
    }
    out.lowercases_texts = fields.get_bool("do_lower_case", false);
    return;
  }
}

}  // namespace

PoolingConfig read_pooling(const fs::path& folder) {
  PoolingConfig out;
  if (file_exists(folder / kModules)) {
    const std::vector<Module> modules = read_modules(folder);
    if (modules[0].kind == "StaticEmbedding") {
      out.is_static = true;
      out.transformer_folder = modules[0].path;
      read_vector_modules(folder, modules, 1, out);
      return out;
    }
    constexpr const char* kChain[] = {"Transformer", "Pooling"};
    for (std::size_t i = 0; i < std::min(modules.size(), std::size(kChain)); ++i) {
      if (modules[i].kind != kChain[i]) refuse_module(modules, i);
    }
    if (modules.size() < 2) {
      throw ConvertError(std::string(kModules) + ": no Pooling module after Transformer");
    }
    out.transformer_folder = modules[0].path;
    read_pooling_module(folder, modules[1].path, out);
    read_vector_modules(folder, modules, std::size(kChain), out);
  }

  read_sequence_file(folder, out);
  return out;
}

}  // namespace embert::convert
