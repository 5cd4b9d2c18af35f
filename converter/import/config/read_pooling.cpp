// SPDX-License-Identifier: Apache-2.0
// The modules must be Transformer, Pooling and perhaps Normalize, in this order; the error for
// another chain names the module that does not fit.
#include "converter/import/config/read_pooling.hpp"

#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "converter/convert_error.hpp"
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
    modules.push_back(std::move(module));
  }
  return modules;
}

// A mode is on by a key of its own, or is the value of pooling_mode, as sentence-transformers 5.7
// writes it.
struct Mode {
  const char* key;
  const char* name;
  std::optional<PoolingKind> kind;  // none: not supported
};
constexpr Mode kModes[] = {{"pooling_mode_cls_token", "cls", PoolingKind::kCls},
                           {"pooling_mode_mean_tokens", "mean", PoolingKind::kMean},
                           {"pooling_mode_max_tokens", "max", PoolingKind::kMax},
                           {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", {}},
                           {"pooling_mode_weightedmean_tokens", "weightedmean", {}},
                           {"pooling_mode_lasttoken", "lasttoken", {}}};

PoolingKind supported(const JsonFields& fields, const Mode& mode, const std::string& shown) {
  if (!mode.kind) {
    throw ConvertError(fields.file() + ": " + shown +
                       " is not supported; mean, cls and max pooling are");
  }
  return *mode.kind;
}

PoolingKind kind_by_name(const JsonFields& fields) {
  const Json* value = fields.find("pooling_mode");
  if (value->is_array() && value->size() == 1) value = &value->front();
  if (value->is_array()) {
    throw ConvertError(fields.file() + ": pooling_mode has " + std::to_string(value->size()) +
                       " modes; one is supported");
  }
  for (const Mode& mode : kModes) {
    if (*value == mode.name)
      return supported(fields, mode, "pooling_mode " + describe_json(*value));
  }
  throw ConvertError(fields.file() + ": pooling_mode must be \"mean\", \"cls\" or \"max\", found " +
                     describe_json(*value));
}

PoolingKind kind_by_keys(const JsonFields& fields) {
  const Mode* chosen = nullptr;
  for (const Mode& mode : kModes) {
    if (!fields.get_bool(mode.key, false)) continue;
    supported(fields, mode, mode.key);
    if (chosen != nullptr) {
      throw ConvertError(fields.file() + ": " + chosen->key + " and " + mode.key +
                         " are both on; several poolings at once are not supported");
    }
    chosen = &mode;
  }
  if (chosen == nullptr) {
    throw ConvertError(
        fields.file() +
        ": no pooling mode is on; expected one of "
        "pooling_mode_mean_tokens, pooling_mode_cls_token and pooling_mode_max_tokens");
  }
  return *chosen->kind;
}

void read_pooling_module(const fs::path& folder, const std::string& path, PoolingConfig& out) {
  out.pooling_file = inner_file(path, "config.json");
  const Json document = read_json_file(folder / path / "config.json", out.pooling_file);
  const JsonFields fields(document, out.pooling_file);
  const bool names_modes = fields.has("pooling_mode");
  const char* size_key = names_modes ? "embedding_dimension" : "word_embedding_dimension";
  out.vector_size = static_cast<int>(fields.get_int(size_key, 1, 1 << 20, 0));
  out.kind = names_modes ? kind_by_name(fields) : kind_by_keys(fields);
  // sentence-transformers then leaves the prompt's tokens out of the mean or maximum.
  if (!fields.get_bool("include_prompt", true) && out.kind != PoolingKind::kCls) {
    throw ConvertError(out.pooling_file +
                       ": include_prompt false is not supported; with true the tokens of a prompt "
                       "count in the vector, and vectors without prompt stay the same");
  }
}

}  // namespace

PoolingConfig read_pooling(const fs::path& folder) {
  PoolingConfig out;
  if (file_exists(folder / kModules)) {
    const std::vector<Module> modules = read_modules(folder);
    constexpr const char* kChain[] = {"Transformer", "Pooling", "Normalize"};
    for (std::size_t i = 0; i < modules.size(); ++i) {
      if (i >= std::size(kChain) || modules[i].kind != kChain[i]) {
        throw ConvertError(
            std::string(kModules) + ": module " + std::to_string(i) + " \"" +
            printable(modules[i].kind) +
            "\" is not supported; expected Transformer, Pooling and perhaps Normalize");
      }
    }
    if (modules.size() < 2) {
      throw ConvertError(std::string(kModules) + ": no Pooling module after Transformer");
    }
    out.transformer_folder = modules[0].path;
    read_pooling_module(folder, modules[1].path, out);
    out.normalize = modules.size() == 3;
  }

  const std::string file = inner_file(out.transformer_folder, "sentence_bert_config.json");
  if (file_exists(folder / file)) {
    const Json document = read_json_file(folder / file, file);
    const JsonFields fields(document, file);
    if (fields.has("max_seq_length")) {
      out.max_seq_length = static_cast<int>(fields.get_int("max_seq_length", 1, kMaxSequence));
    }
  }
  return out;
}

}  // namespace embert::convert
