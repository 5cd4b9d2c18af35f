// SPDX-License-Identifier: Apache-2.0
#include "converter/import/read_static_embeddings.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "converter/convert_error.hpp"
#include "converter/import/json_file.hpp"
#include "converter/import/tokenizer/read_tokenizer.hpp"
#include "converter/import/weights/safetensors_file.hpp"
#include "converter/import/weights/weight_files.hpp"

namespace embert::convert {
namespace {

constexpr const char* kConfig = "config.json";
constexpr const char* kWeights = "model.safetensors";
/// A mapping makes a large table of a small file: 4 GiB of floats, at most.
constexpr std::size_t kMostMappedValues = std::size_t{1} << 30;

Matrix read_table(const SafetensorsFile& file, const std::string& name) {
  const TensorInfo* info = file.find(name);
  if (info == nullptr || info->shape.size() != 2 || info->elements == 0) {
    throw ConvertError(file.file() + ": tensor \"" + name + "\" [tokens, values] is missing" +
                       (info != nullptr ? "; found " + shape_text(info->shape) : std::string()));
  }
  if (info->shape[0] > kMaxVocabSize || info->shape[1] > kMaxHiddenSize) {
    throw ConvertError(file.file() + ": tensor \"" + name + "\" " + shape_text(info->shape) +
                       "; at most [" + std::to_string(kMaxVocabSize) + ", " +
                       std::to_string(kMaxHiddenSize) + "] is supported");
  }
  const std::vector<double> values = file.read_numbers(name);
  Matrix table{static_cast<std::size_t>(info->shape[0]), static_cast<std::size_t>(info->shape[1]),
               std::vector<float>(values.begin(), values.end())};
  const auto bad = std::ranges::find_if(table.data, [](float x) { return !std::isfinite(x); });
  if (bad != table.data.end()) {
    throw ConvertError(file.file() + ": tensor \"" + name + "\" holds " + std::to_string(*bad) +
                       " at index " + std::to_string(bad - table.data.begin()) +
                       "; embeddings must be finite");
  }
  return table;
}

// One number for each token.
std::vector<double> read_column(const SafetensorsFile& file, const std::string& name,
                                std::size_t tokens) {
  const TensorInfo& info = *file.find(name);
  if (info.shape.size() != 1 || info.elements != tokens) {
    throw ConvertError(file.file() + ": tensor \"" + name + "\" must have shape [" +
                       std::to_string(tokens) + "], a value for each token, found " +
                       shape_text(info.shape));
  }
  return file.read_numbers(name);
}

// Row of each token.
std::vector<std::size_t> read_mapping(const SafetensorsFile& file, std::size_t tokens,
                                      std::size_t rows) {
  std::vector<std::size_t> mapping;
  for (const double value : read_column(file, "mapping", tokens)) {
    if (!(value >= 0 && value < static_cast<double>(rows) && value == std::floor(value))) {
      throw ConvertError(file.file() + ": tensor \"mapping\" holds " + std::to_string(value) +
                         " at index " + std::to_string(mapping.size()) +
                         "; expected rows of embeddings, 0 to " + std::to_string(rows - 1));
    }
    mapping.push_back(static_cast<std::size_t>(value));
  }
  return mapping;
}

// The table with a row for each token, multiplied by its weight.
Matrix expand_table(const SafetensorsFile& file, std::size_t tokens) {
  Matrix table = read_table(file, "embeddings");
  const bool is_mapped = file.find("mapping") != nullptr;
  if (!is_mapped && table.rows != tokens) {
    throw ConvertError(file.file() + ": tensor \"embeddings\" has " + std::to_string(table.rows) +
                       " rows, but tokenizer.json has " + std::to_string(tokens) + " tokens");
  }
  if (is_mapped) {
    if (tokens > kMostMappedValues / table.cols) {
      throw ConvertError(file.file() + ": tensor \"mapping\" gives each of " +
                         std::to_string(tokens) + " tokens a row of " + std::to_string(table.cols) +
                         " values; at most " + std::to_string(kMostMappedValues) +
                         " values are supported");
    }
    Matrix expanded{tokens, table.cols, {}};
    for (const std::size_t row : read_mapping(file, tokens, table.rows)) {
      expanded.data.insert(expanded.data.end(), table.row(row), table.row(row) + table.cols);
    }
    table = std::move(expanded);
  }
  if (file.find("weights") == nullptr) return table;
  const std::vector<double> weights = read_column(file, "weights", tokens);
  for (std::size_t id = 0; id < tokens; ++id) {
    if (!std::isfinite(weights[id])) {
      throw ConvertError(file.file() + ": tensor \"weights\" holds " + std::to_string(weights[id]) +
                         " at index " + std::to_string(id) + "; weights must be finite");
    }
    for (std::size_t c = 0; c < table.cols; ++c) {
      float& value = table.data[id * table.cols + c];
      value = static_cast<float>(static_cast<double>(value) * weights[id]);
    }
  }
  return table;
}

TokenizerSpec require_tokenizer(const std::filesystem::path& folder) {
  std::vector<std::string> reported_later;
  std::optional<TokenizerSpec> spec = read_tokenizer(folder, reported_later);
  if (!spec) throw ConvertError("tokenizer.json: file not found; static embeddings need it");
  return std::move(*spec);
}

void set_table(Matrix table, ModelFolder& out) {
  StackConfig config;
  config.is_static = true;
  config.hidden_size = static_cast<int>(table.cols);
  config.vocab_size = static_cast<int>(table.rows);
  config.max_position_embeddings = config.stored_positions = kMaxPositions;
  config.type_vocab_size = 1;
  config.num_attention_heads = 1;
  config.embedding_layer_norm = false;
  out.config.stacks = {config};
  StackWeights weights;
  // The float model adds positions and segments: zeros.
  weights.position_embeddings = {kMaxPositions, table.cols, {}};
  weights.position_embeddings.data.resize(kMaxPositions * table.cols);
  weights.token_type_embeddings = {1, table.cols, std::vector<float>(table.cols)};
  weights.word_embeddings = std::move(table);
  out.weights.stacks.push_back(std::move(weights));
}

void warn_of_length(const std::string& theirs, std::vector<std::string>& warnings) {
  warnings.push_back("texts are cut at " + std::to_string(kMaxPositions) + " tokens; " + theirs);
}

}  // namespace

bool is_model2vec_folder(const std::filesystem::path& folder) {
  if (!file_exists(folder / kConfig)) return false;
  const Json document = read_json_file(folder / kConfig, kConfig);
  const JsonFields config(document, kConfig);
  // Version 0.10 writes embedding_dtype, and the other two only for models that it distilled.
  if (config.has("embedding_dtype") || config.get_string("model_type", "") == "model2vec") {
    return true;
  }
  const Json* architectures = config.find("architectures");
  return architectures != nullptr && architectures->is_array() && architectures->size() == 1 &&
         architectures->front() == "StaticModel";
}

void read_model2vec(const std::filesystem::path& folder, ModelFolder& out) {
  const Json document = read_json_file(folder / kConfig, kConfig);
  const JsonFields config(document, kConfig);
  out.transformer_folder = folder;
  out.pooling.is_static = true;
  out.pooling.normalize = config.get_bool("normalize", false);
  constexpr int kLongest = 1 << 30, kDefaultLength = 512;
  const bool unlimited = config.is_null("max_length");
  const auto length = static_cast<int>(config.get_int("max_length", 1, kLongest, kDefaultLength));
  out.pooling.max_seq_length = length;
  if (unlimited || length > static_cast<int>(kMaxPositions)) {
    warn_of_length("config.json says max_length " + (unlimited ? "null" : std::to_string(length)),
                   out.warnings);
  }
  const TokenizerSpec tokenizer = require_tokenizer(folder);
  const SafetensorsFile file(folder / kWeights, kWeights);
  Matrix table = expand_table(file, tokenizer.tokens.size());
  if (tokenizer.unk_id) {
    const std::size_t unknown = *tokenizer.unk_id;
    std::fill_n(table.data.begin() + static_cast<std::ptrdiff_t>(unknown * table.cols), table.cols,
                0.0F);
    set_table(std::move(table), out);
    out.config.stacks[0].dropped_token = static_cast<int>(unknown);
  } else {
    set_table(std::move(table), out);
  }
}

void read_static_module(ModelFolder& out) {
  const TokenizerSpec tokenizer = require_tokenizer(out.transformer_folder);
  if (!file_exists(out.transformer_folder / kWeights)) {
    const WeightFiles says_why(out.transformer_folder);
  }
  const SafetensorsFile file(out.transformer_folder / kWeights, kWeights);
  const char* name = file.find("embedding.weight") != nullptr ? "embedding.weight" : "embeddings";
  Matrix table = read_table(file, name);
  if (table.rows < tokenizer.tokens.size()) {
    throw ConvertError(std::string(kWeights) + ": tensor \"" + name + "\" has " +
                       std::to_string(table.rows) + " rows, but tokenizer.json has " +
                       std::to_string(tokenizer.tokens.size()) + " tokens");
  }
  set_table(std::move(table), out);
  if (!tokenizer.max_tokens || *tokenizer.max_tokens > kMaxPositions) {
    warn_of_length("StaticEmbedding has no limit of its own", out.warnings);
  }
}

}  // namespace embert::convert
