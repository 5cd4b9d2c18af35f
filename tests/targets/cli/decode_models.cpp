// SPDX-License-Identifier: Apache-2.0
#include "tests/targets/cli/decode_models.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>

namespace embert::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string kShared = EMBERT_SHARED_DIR;
const std::string kDecode = kShared + "/reference/decode/";

/// The content of a safetensors file, merged from several.
struct Tensors {
  Json header = Json::object();
  std::string data;  ///< the bytes after the header

  void add(const std::string& file) {
    const std::string bytes = read_bytes(file);
    std::uint64_t header_bytes = 0;
    std::memcpy(&header_bytes, bytes.data(), sizeof(header_bytes));
    const Json tensors = Json::parse(bytes.substr(8, header_bytes));
    for (const auto& [name, entry] : tensors.items()) {
      if (name == "__metadata__") continue;
      header[name] = entry;
      for (Json& offset : header[name]["data_offsets"]) {
        offset = offset.get<std::uint64_t>() + data.size();
      }
    }
    data += bytes.substr(8 + header_bytes);
  }

  std::string file() const {
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const std::uint64_t header_bytes = text.size();
    std::string bytes(sizeof(header_bytes), '\0');
    std::memcpy(bytes.data(), &header_bytes, sizeof(header_bytes));
    return bytes + text + data;
  }
};

}  // namespace

bool has_decode_models() { return fs::exists(kDecode + "model"); }

Json read_decode_golden(const std::string& name) {
  return Json::parse(read_bytes(kDecode + name + ".json"));
}

std::string convert_decode_model(const ScratchFolder& scratch, const std::string& task) {
  const std::string folder = scratch.path(task), model = scratch.path(task + ".emb");
  fs::create_directory(folder);
  fs::copy_file(kDecode + "model/config_" + task + ".json", folder + "/config.json");
  fs::copy_file(kShared + "/data/tokenizer/vocab/bert-base-uncased-vocab.txt",
                folder + "/vocab.txt");
  Tensors tensors;
  tensors.add(kDecode + "model/model.safetensors");
  const std::string head = kDecode + "model/head_" + task + ".safetensors";
  if (fs::exists(head)) tensors.add(head);
  scratch.write(task + "/model.safetensors", tensors.file());
  const ToolResult made = run_tool({"convert", folder, "-o", model});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  return model;
}

}  // namespace embert::test
