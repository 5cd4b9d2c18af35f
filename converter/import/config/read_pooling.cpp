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

void read_pooling_module(const fs::path& folder, const std::string& path, PoolingConfig& out) {
  struct Mode {
    const char* key;
    std::optional<PoolingKind> kind;
  };
  constexpr Mode kModes[] = {{"pooling_mode_cls_token", PoolingKind::kCls},
                             {"pooling_mode_mean_tokens", PoolingKind::kMean},
                             {"pooling_mode_max_tokens", PoolingKind::kMax},
                             {"pooling_mode_mean_sqrt_len_tokens", std::nullopt},
                             {"pooling_mode_weightedmean_tokens", std::nullopt},
                             {"pooling_mode_lasttoken", std::nullopt}};
  out.pooling_file = inner_file(path, "config.json");
  const Json document = read_json_file(folder / path / "config.json", out.pooling_file);
  const JsonFields fields(document, out.pooling_file);
  out.vector_size = static_cast<int>(fields.get_int("word_embedding_dimension", 1, 1 << 20, 0));

  const Mode* chosen = nullptr;
  for (const Mode& mode : kModes) {
    if (!fields.get_bool(mode.key, false)) continue;
    if (!mode.kind) {
      throw ConvertError(out.pooling_file + ": " + mode.key +
                         " is not supported; mean, cls and max pooling are");
    }
    if (chosen != nullptr) {
      throw ConvertError(out.pooling_file + ": " + chosen->key + " and " + mode.key +
                         " are both on; several poolings at once are not supported");
    }
    chosen = &mode;
  }
  if (chosen == nullptr) {
    throw ConvertError(
        out.pooling_file +
        ": no pooling mode is on; expected one of "
        "pooling_mode_mean_tokens, pooling_mode_cls_token and pooling_mode_max_tokens");
  }
  out.kind = *chosen->kind;
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
