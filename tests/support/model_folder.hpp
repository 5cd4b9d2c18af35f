// SPDX-License-Identifier: Apache-2.0
// Model folders for tests without downloaded data: a small random BERT as transformers would save
// it, in a temporary folder. The same options give the same bytes on every machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace embert::test {

/// A temporary folder, empty at first; the destructor removes it with everything in it.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Writes a file and the folders above it; returns the file's path.
  std::filesystem::path write(const std::string& name, const std::string& content) const;

 private:
  std::filesystem::path path_;
};

/// One tensor of a safetensors file, with its bytes as in the file.
struct StoredTensor {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::string bytes;
};

/// Values as "F32", "F16" (rounded to nearest even, no overflow expected) or "BF16" (cut off).
StoredTensor store_floats(const std::string& name, const std::vector<std::uint64_t>& shape,
                          const std::vector<float>& values, const std::string& dtype = "F32");

/// The bytes of a file with this header text and data, valid or not.
std::string safetensors_bytes(const std::string& header, const std::string& data);
/// The bytes of a valid file.
std::string safetensors_bytes(const std::vector<StoredTensor>& tensors);

struct ModelOptions {
  int hidden = 32;
  int layers = 2;
  int heads = 2;
  int intermediate = 64;
  int vocab = 96;
  int positions = 32;
  int types = 2;
  std::string hidden_act = "gelu";
  bool pooler = false;
  int labels = 0;  ///< above 0: BertForSequenceClassification, with pooler and "bert." names
  std::string problem_type = {};  ///< of the classifier; empty: not written
  bool bert_prefix = false;       ///< "bert.embeddings..." in a model without a head, too
  bool gamma_beta = false;        ///< old names of LayerNorm's tensors
  std::string dtype = "F32";
  bool tokenizer = false;  ///< vocab.txt and tokenizer_config.json; needs vocab >= 90
  std::uint64_t seed = 1;
};

/// The content of a model folder, for tests that change it before they write it.
struct ModelContent {
  nlohmann::json config;
  std::vector<StoredTensor> tensors;

  StoredTensor& tensor(const std::string& name);  ///< throws when there is none
  void erase(const std::string& name);
};

ModelContent make_model(const ModelOptions& options = {});
/// config.json and model.safetensors.
void write_model(const std::filesystem::path& folder, const ModelContent& content);
/// make_model() and write_model(), with the tokenizer's files where asked for.
void write_model_folder(const std::filesystem::path& folder, const ModelOptions& options = {});

}  // namespace embert::test
