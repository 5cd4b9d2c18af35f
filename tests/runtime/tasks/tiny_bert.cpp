// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/tasks/tiny_bert.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/runtime/tasks/task_golden.hpp"

namespace embert::test {

TinyBert::TinyBert(const std::string& base_file, const std::string& head_file,
                   std::size_t num_heads)
    : num_heads_(num_heads) {
  read(base_file);
  read(head_file);
}

void TinyBert::read(const std::string& file) {
  const std::string bytes = read_file(file);
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), 8);
  const Json header = Json::parse(bytes.substr(8, header_bytes));
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const std::size_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
    std::vector<float> values((end - begin) / sizeof(float));
    std::memcpy(values.data(), bytes.data() + 8 + header_bytes + begin, end - begin);
    tensors_[name].assign(values.begin(), values.end());
  }
}

const std::vector<double>& TinyBert::weights(const std::string& name) const {
  return tensors_.at(name);
}

TinyBert::Rows TinyBert::dense(const Rows& input, const std::string& name) const {
  const std::vector<double>&w = weights(name + ".weight"), &bias = weights(name + ".bias");
  Rows output;
  for (const std::vector<double>& row : input) {
    output.push_back(bias);
    for (std::size_t n = 0; n < bias.size(); ++n) {
      for (std::size_t k = 0; k < row.size(); ++k)
        output.back()[n] += w[n * row.size() + k] * row[k];
    }
  }
  return output;
}

void TinyBert::add_and_norm(Rows& rows, const Rows& added, const std::string& name) const {
  const std::vector<double>&gamma = weights(name + ".weight"), &beta = weights(name + ".bias");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<double>& row = rows[i];
    const double n = static_cast<double>(row.size());
    double mean = 0, variance = 0;
    for (std::size_t c = 0; c < row.size(); ++c) mean += (row[c] += added[i][c]) / n;
    for (const double x : row) variance += (x - mean) * (x - mean) / n;
    for (std::size_t c = 0; c < row.size(); ++c) {
      row[c] = (row[c] - mean) / std::sqrt(variance + 1e-12) * gamma[c] + beta[c];
    }
  }
}

TinyBert::Rows TinyBert::attention(const Rows& input, const std::string& layer) const {
  const Rows query = dense(input, layer + "self.query"), key = dense(input, layer + "self.key"),
             value = dense(input, layer + "self.value");
  const std::size_t tokens = input.size(), size = query[0].size() / num_heads_;
  Rows context(tokens, std::vector<double>(query[0].size()));
  for (std::size_t head = 0; head < num_heads_; ++head) {
    for (std::size_t i = 0; i < tokens; ++i) {
      std::vector<double> p(tokens);
      double sum = 0;
      for (std::size_t j = 0; j < tokens; ++j) {
        for (std::size_t c = head * size; c < (head + 1) * size; ++c)
          p[j] += query[i][c] * key[j][c];
        sum += p[j] = std::exp(p[j] / std::sqrt(static_cast<double>(size)));
      }
      for (std::size_t j = 0; j < tokens; ++j) {
        for (std::size_t c = head * size; c < (head + 1) * size; ++c)
          context[i][c] += p[j] / sum * value[j][c];
      }
    }
  }
  return dense(context, layer + "output.dense");
}

std::vector<double> TinyBert::token_logits(const std::vector<std::int32_t>& ids) const {
  const std::string embeddings = "bert.embeddings.";
  const std::size_t hidden = weights(embeddings + "LayerNorm.bias").size();
  const auto row_of = [&](const std::string& table, std::size_t row) {
    const auto begin =
        weights(embeddings + table + ".weight").begin() + static_cast<std::ptrdiff_t>(row * hidden);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(hidden));
  };
  Rows rows, positions;
  const std::vector<double> type = row_of("token_type_embeddings", 0);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    rows.push_back(row_of("word_embeddings", static_cast<std::size_t>(ids[i])));
    positions.push_back(row_of("position_embeddings", i));
    for (std::size_t c = 0; c < hidden; ++c) positions.back()[c] += type[c];
  }
  add_and_norm(rows, positions, embeddings + "LayerNorm");
  for (int index = 0;; ++index) {
    const std::string layer = "bert.encoder.layer." + std::to_string(index) + ".";
    if (!tensors_.contains(layer + "intermediate.dense.weight")) break;
    add_and_norm(rows, attention(rows, layer + "attention."), layer + "attention.output.LayerNorm");
    Rows inner = dense(rows, layer + "intermediate.dense");
    for (std::vector<double>& row : inner) {
      for (double& x : row) x *= 0.5 * std::erfc(-x / std::sqrt(2.0));
    }
    add_and_norm(rows, dense(inner, layer + "output.dense"), layer + "output.LayerNorm");
  }
  std::vector<double> logits;
  for (const std::vector<double>& row : dense(rows, "classifier")) {
    logits.insert(logits.end(), row.begin(), row.end());
  }
  return logits;
}

}  // namespace embert::test
