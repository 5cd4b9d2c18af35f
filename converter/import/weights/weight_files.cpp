// SPDX-License-Identifier: Apache-2.0
// Finds the weight files of a folder, and checks the shards of a model against their index.
#include "converter/import/weights/weight_files.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "converter/files/folder_names.hpp"
#include "converter/import/json_file.hpp"

namespace embert::convert {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSingle = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr std::size_t kMaxShards = 1000;

// The first file, by name, with weights of a format that embert does not read; empty where there is
// none. Sorted, so that the message does not depend on the file system.
std::string other_weights(const fs::path& folder) {
  constexpr std::array<std::string_view, 9> kExtensions = {
      ".bin", ".ckpt", ".gguf", ".h5", ".msgpack", ".onnx", ".pkl", ".pt", ".pth"};
  std::set<std::string> names;
  for (const fs::path name : folder_names(folder)) {
    if (std::ranges::find(kExtensions, name.extension().string()) != kExtensions.end() &&
        name != "training_args.bin" && name != "optimizer.pt" && name != "scheduler.pt") {
      names.insert(name.string());
    }
  }
  return names.empty() ? std::string() : *names.begin();
}

// The class that reads all weights of the folder. AutoModel would drop the head of a task.
std::string class_of(const fs::path& folder) {
  const auto is_name = [](const std::string& name) {
    return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
      return (c < 0x80 && std::isalnum(c) != 0) || c == '_';
    });
  };
  if (file_exists(folder / "config.json")) {
    const Json config = read_json_file(folder / "config.json", "config.json");
    const auto found = config.find("architectures");
    if (found != config.end() && found->is_array() && !found->empty() &&
        found->front().is_string()) {
      if (const auto name = found->front().get<std::string>(); is_name(name)) return name;
    }
  }
  return "AutoModel";
}

// A path as it stands between quotes in a shell's command, with a name at its end; DIR for one that
// would not stay whole.
std::string pasted_path(const fs::path& folder) {
  const fs::path normal = folder.lexically_normal();
  const bool has_name = normal.has_filename() && normal != "." && normal.filename() != "..";
  std::string path = (has_name ? normal : fs::absolute(normal).lexically_normal()).string();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const bool is_plain = std::ranges::all_of(path, [](unsigned char c) {
    return c >= ' ' && c != 0x7F &&
           std::string_view("'\"\\$`!").find(static_cast<char>(c)) == std::string_view::npos;
  });
  return is_plain ? path : "DIR";
}

}  // namespace

std::string safetensors_remedy(const fs::path& folder, const std::string& other) {
  if (other.ends_with(".gguf") || other.ends_with(".onnx")) {
    return "give the Hugging Face folder that this file was made from, with model.safetensors";
  }
  const std::string from = pasted_path(folder), to = from + "-safetensors";
  if (file_exists(folder / "modules.json")) {
    return "make them with: python3 -c \"from sentence_transformers import SentenceTransformer as "
           "M; "
           "M('" +
           from + "').save_pretrained('" + to + "')\"";
  }
  return "make them with: python3 -c \"from transformers import " + class_of(folder) +
         " as M, AutoTokenizer as T; M.from_pretrained('" + from +
         (other.ends_with(".h5")        ? "', from_tf=True"
          : other.ends_with(".msgpack") ? "', from_flax=True"
                                        : "'") +
         ").save_pretrained('" + to + "'); T.from_pretrained('" + from + "').save_pretrained('" +
         to + "')\"";
}

void check_inner_path(const std::string& path, const std::string& where) {
  const fs::path parsed(path);
  const bool leaves = parsed.is_absolute() || std::ranges::any_of(parsed, [](const fs::path& part) {
                        return part == "..";
                      });
  if (leaves || path.find('\0') != std::string::npos) {
    throw ConvertError(where + ": path \"" + printable(path) + "\" leaves the model folder");
  }
}

WeightFiles::WeightFiles(const fs::path& folder) {
  if (file_exists(folder / kSingle)) {
    files_.emplace_back(folder / kSingle, kSingle);
    for (const auto& entry : files_[0].tensors()) file_of_.emplace(entry.first, 0);
    return;
  }
  if (file_exists(folder / kIndex)) {
    open_shards(folder);
    return;
  }
  if (const std::string other = other_weights(folder); !other.empty()) {
    throw ConvertError(printable(other) + ": only safetensors weights are read; " +
                       safetensors_remedy(folder, other));
  }
  throw ConvertError(std::string(kSingle) + ": file not found, nor " + kIndex);
}

void WeightFiles::open_shards(const fs::path& folder) {
  const Json document = read_json_file(folder / kIndex, kIndex);
  const JsonFields index(document, kIndex);
  const Json* weight_map = index.find("weight_map");
  if (weight_map == nullptr || !weight_map->is_object() || weight_map->empty()) {
    throw ConvertError(std::string(kIndex) +
                       ": \"weight_map\" must be an object: tensor name -> file");
  }
  std::map<std::string, std::size_t> shards;  // name -> index into files_
  for (const auto& item : weight_map->items()) {
    const std::string where =
        std::string(kIndex) + ": weight_map of tensor \"" + printable(item.key()) + "\"";
    if (!item.value().is_string()) {
      throw ConvertError(where + ": expected a file name, found " + describe_json(item.value()));
    }
    const auto shard = item.value().get<std::string>();
    check_inner_path(shard, where);
    if (!shard.ends_with(".safetensors")) {
      throw ConvertError(where + ": \"" + printable(shard) + "\" is no .safetensors file");
    }
    if (shards.emplace(shard, 0).second && shards.size() > kMaxShards) {
      throw ConvertError(std::string(kIndex) + ": more than " + std::to_string(kMaxShards) +
                         " files");
    }
  }
  for (auto& [name, at] : shards) {
    at = files_.size();
    files_.emplace_back(folder / name, printable(name));
  }
  for (const auto& item : weight_map->items()) {
    const std::size_t at = shards.at(item.value().get<std::string>());
    if (files_[at].find(item.key()) == nullptr) {
      throw ConvertError(files_[at].file() + ": tensor \"" + printable(item.key()) +
                         "\" is missing; " + kIndex + " says that it is here");
    }
    file_of_.emplace(item.key(), at);
  }
  for (std::size_t at = 0; at < files_.size(); ++at) {
    for (const auto& entry : files_[at].tensors()) {
      const auto listed = file_of_.find(entry.first);
      if (listed == file_of_.end()) {
        throw ConvertError(files_[at].file() + ": tensor \"" + printable(entry.first) +
                           "\" is not listed in " + kIndex);
      }
      if (listed->second != at) {
        throw ConvertError(files_[at].file() + ": tensor \"" + printable(entry.first) +
                           "\" is in this file, but " + kIndex + " says that it is in " +
                           files_[listed->second].file());
      }
    }
  }
}

const TensorInfo* WeightFiles::find(std::string_view name) const {
  const auto at = file_of_.find(name);
  return at == file_of_.end() ? nullptr : files_[at->second].find(name);
}

std::vector<float> WeightFiles::read_float(std::string_view name) const {
  const auto at = file_of_.find(name);
  return files_[at == file_of_.end() ? 0 : at->second].read_float(name);
}

const std::string& WeightFiles::file_of(std::string_view name) const {
  const auto at = file_of_.find(name);
  return files_[at == file_of_.end() ? 0 : at->second].file();
}

std::vector<std::string> WeightFiles::names() const {
  std::vector<std::string> names;
  for (const auto& entry : file_of_) names.push_back(entry.first);
  return names;
}

}  // namespace embert::convert
