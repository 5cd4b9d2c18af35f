// SPDX-License-Identifier: Apache-2.0
// BertForTokenClassification as its paper has it, in double: makes the logits that the golden files
// of long texts leave out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace embert::test {

class TinyBert {
 public:
  /// Base and head as safetensors files of float32.
  TinyBert(const std::string& base_file, const std::string& head_file, std::size_t num_heads);

  /// Logits [tokens][labels] of one text.
  std::vector<double> token_logits(const std::vector<std::int32_t>& ids) const;

 private:
  using Rows = std::vector<std::vector<double>>;

  void read(const std::string& file);
  const std::vector<double>& weights(const std::string& name) const;
  Rows dense(const Rows& input, const std::string& name) const;
  void add_and_norm(Rows& rows, const Rows& added, const std::string& name) const;
  Rows attention(const Rows& input, const std::string& layer) const;

  std::map<std::string, std::vector<double>> tensors_;
  std::size_t num_heads_;
};

}  // namespace embert::test
