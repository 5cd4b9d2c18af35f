// SPDX-License-Identifier: Apache-2.0
// Writes small random models and the temporary folders that hold them.
#include "tests/support/model_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace embert::test {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& path, const std::string& content) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  if (!stream.write(content.data(), static_cast<std::streamsize>(content.size())).flush()) {
    throw std::runtime_error("can not write " + path.string());
  }
}

// splitmix64: the same numbers with every standard library, which the distributions of <random> do
// not give.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // About normal: the sum of four uniform numbers in [-1, 1), scaled to a standard deviation of 1.
  float normal() {
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += static_cast<double>(next() >> 11) * 0x1p-52 - 1.0;
    return static_cast<float>(sum * 0.8660254037844386);
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude >= 0x7F800000) {
    return static_cast<std::uint16_t>(sign | 0x7C00 | (magnitude > 0x7F800000 ? 0x200 : 0));
  }
  if (magnitude <
      0x38800000) {  // below 2^-14: adding 0.5 leaves a multiple of 2^-24 in the low bits, rounded
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000));
  }
  const std::uint32_t rounded = magnitude + 0xFFF + ((magnitude >> 13) & 1);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000) >> 13));
}

template <typename T>
void append(std::string& bytes, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.append(raw, sizeof(T));
}

// Adds random tensors; spreads as in trained models, so that quantising them means something.
class ModelBuilder {
 public:
  explicit ModelBuilder(const ModelOptions& options) : options_(options), random_(options.seed) {}

  void matrix(const std::string& name, int rows, int cols, float deviation) {
    add(name, {rows, cols}, deviation, 0);
  }
  void linear(const std::string& name, int outputs, int inputs) {
    matrix(name + ".weight", outputs, inputs, 1.0F / std::sqrt(static_cast<float>(inputs)));
    add(name + ".bias", {outputs}, 0.1F, 0);
  }
  void layer_norm(const std::string& name) {
    add(name + (options_.gamma_beta ? ".gamma" : ".weight"), {options_.hidden}, 0.2F, 1);
    add(name + (options_.gamma_beta ? ".beta" : ".bias"), {options_.hidden}, 0.2F, 0);
  }

  std::vector<StoredTensor> tensors;

 private:
  void add(const std::string& name, const std::vector<int>& extents, float deviation, float mean) {
    std::vector<std::uint64_t> shape;
    std::size_t count = 1;
    for (const int extent : extents) {
      shape.push_back(static_cast<std::uint64_t>(extent));
      count *= static_cast<std::size_t>(extent);
    }
    std::vector<float> values(count);
    for (float& value : values) value = mean + deviation * random_.normal();
    tensors.push_back(store_floats(name, shape, values, options_.dtype));
  }

  const ModelOptions& options_;
  Random random_;
};

std::vector<std::string> vocabulary(int size) {
  std::vector<std::string> tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  for (char c = '0'; c <= '9'; ++c) tokens.emplace_back(1, c);
  for (char c = 'a'; c <= 'z'; ++c) tokens.emplace_back(1, c);
  for (char c = 'a'; c <= 'z'; ++c) tokens.push_back(std::string("##") + c);
  for (const char* token :
       {".",     ",",   "?",  "!",    "'",       "-",   "the", "of",  "is", "what", "play",
        "##ing", "how", "to", "time", "weather", "not", "you", "and", "in", "my",   "it"}) {
    tokens.emplace_back(token);
  }
  if (static_cast<std::size_t>(size) < tokens.size()) {
    throw std::runtime_error("the test vocabulary has " + std::to_string(tokens.size()) +
                             " tokens");
  }
  for (int i = 0; tokens.size() < static_cast<std::size_t>(size); ++i) {
    tokens.push_back("[unused" + std::to_string(i) + "]");
  }
  return tokens;
}

}  // namespace

TempFolder::TempFolder() {
  std::string pattern = (fs::temp_directory_path() / "embert-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("can not make " + pattern);
  path_ = pattern;
}

TempFolder::~TempFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

fs::path TempFolder::write(const std::string& name, const std::string& content) const {
  write_file(path_ / name, content);
  return path_ / name;
}

StoredTensor store_floats(const std::string& name, const std::vector<std::uint64_t>& shape,
                          const std::vector<float>& values, const std::string& dtype) {
  StoredTensor out{name, dtype, shape, {}};
  for (const float value : values) {
    if (dtype == "F32") {
      append(out.bytes, value);
    } else if (dtype == "F16") {
      append(out.bytes, to_half(value));
    } else if (dtype == "BF16") {
      append(out.bytes, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
    } else {
      throw std::runtime_error("store_floats: dtype " + dtype);
    }
  }
  return out;
}

std::string safetensors_bytes(const std::string& header, const std::string& data) {
  std::string bytes;
  append(bytes, static_cast<std::uint64_t>(header.size()));
  return bytes + header + data;
}

std::string safetensors_bytes(const std::vector<StoredTensor>& tensors) {
  nlohmann::json header = {{"__metadata__", {{"format", "pt"}}}};
  std::string data;
  for (const StoredTensor& tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return safetensors_bytes(text, data);
}

StoredTensor& ModelContent::tensor(const std::string& name) {
  const auto at = std::ranges::find(tensors, name, &StoredTensor::name);
  if (at == tensors.end()) throw std::runtime_error("the test model has no tensor " + name);
  return *at;
}

void ModelContent::erase(const std::string& name) {
  tensor(name);
  std::erase_if(tensors, [&](const StoredTensor& tensor) { return tensor.name == name; });
}

ModelContent make_model(const ModelOptions& options) {
  const int hidden = options.hidden;
  const bool classifies = options.labels > 0;
  const std::string prefix = classifies || options.bert_prefix ? "bert." : "";
  ModelContent out;
  out.config = {{"architectures", {classifies ? "BertForSequenceClassification" : "BertModel"}},
                {"hidden_act", options.hidden_act},
                {"hidden_size", hidden},
                {"intermediate_size", options.intermediate},
                {"layer_norm_eps", 1e-12},
                {"max_position_embeddings", options.positions},
                {"model_type", "bert"},
                {"num_attention_heads", options.heads},
                {"num_hidden_layers", options.layers},
                {"pad_token_id", 0},
                {"position_embedding_type", "absolute"},
                {"type_vocab_size", options.types},
                {"vocab_size", options.vocab}};
  if (classifies) {
    for (int i = 0; i < options.labels; ++i) {
      out.config["id2label"][std::to_string(i)] = "label " + std::to_string(i);
    }
  }
  if (!options.problem_type.empty()) out.config["problem_type"] = options.problem_type;

  ModelBuilder builder(options);
  builder.matrix(prefix + "embeddings.word_embeddings.weight", options.vocab, hidden, 1.0F);
  builder.matrix(prefix + "embeddings.position_embeddings.weight", options.positions, hidden, 0.3F);
  builder.matrix(prefix + "embeddings.token_type_embeddings.weight", options.types, hidden, 0.3F);
  builder.layer_norm(prefix + "embeddings.LayerNorm");
  for (int i = 0; i < options.layers; ++i) {
    const std::string layer = prefix + "encoder.layer." + std::to_string(i) + ".";
    builder.linear(layer + "attention.self.query", hidden, hidden);
    builder.linear(layer + "attention.self.key", hidden, hidden);
    builder.linear(layer + "attention.self.value", hidden, hidden);
    builder.linear(layer + "attention.output.dense", hidden, hidden);
    builder.layer_norm(layer + "attention.output.LayerNorm");
    builder.linear(layer + "intermediate.dense", options.intermediate, hidden);
    builder.linear(layer + "output.dense", hidden, options.intermediate);
    builder.layer_norm(layer + "output.LayerNorm");
  }
  if (options.pooler || classifies) builder.linear(prefix + "pooler.dense", hidden, hidden);
  if (classifies) builder.linear("classifier", options.labels, hidden);
  out.tensors = std::move(builder.tensors);
  return out;
}

void write_model(const fs::path& folder, const ModelContent& content) {
  write_file(folder / "config.json", content.config.dump(2) + "\n");
  write_file(folder / "model.safetensors", safetensors_bytes(content.tensors));
}

void write_model_folder(const fs::path& folder, const ModelOptions& options) {
  write_model(folder, make_model(options));
  if (!options.tokenizer) return;
  std::string lines;
  for (const std::string& token : vocabulary(options.vocab)) lines += token + "\n";
  write_file(folder / "vocab.txt", lines);
  const nlohmann::json tokenizer = {{"do_lower_case", true}, {"tokenizer_class", "BertTokenizer"}};
  write_file(folder / "tokenizer_config.json", tokenizer.dump(2) + "\n");
}

}  // namespace embert::test
