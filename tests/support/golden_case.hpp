// SPDX-License-Identifier: Apache-2.0
// One case of the reference data (shared/reference/models/<case>): the inputs and expected outputs
// of its calls, from io.safetensors, where tensor <call>.<name> belongs to call <call>.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "converter/float_model.hpp"
#include "converter/read_safetensors.hpp"

namespace embert::test {

/// The folder of a case, e.g. "encoder_absolute"; it need not exist.
std::filesystem::path golden_folder(const std::string& shared_dir, const std::string& name);

/// A call's texts without padding, and where their rows stand in padded [batch, length] outputs.
struct GoldenTexts {
  convert::TokenBatch batch;
  std::size_t padded_length = 0;
};

class GoldenCase {
 public:
  explicit GoldenCase(const std::filesystem::path& folder);

  /// Names of the calls in rising order.
  std::vector<std::string> calls() const;
  bool has(const std::string& call, const std::string& name) const;
  std::vector<std::uint64_t> shape(const std::string& call, const std::string& name) const;
  std::vector<float> floats(const std::string& call, const std::string& name) const;
  std::vector<std::int32_t> ints(const std::string& call, const std::string& name) const;

  /// input_ids, token_type_ids and attention_mask of a call; nothing when they are not a batch of
  /// texts [batch, length] with a mask that says lengths only (1...10...0), or when the call has
  /// inputs of other kinds.
  std::optional<GoldenTexts> texts(const std::string& call) const;
  /// Rows of valid tokens of a [batch, length, width] output, in the order of texts(call): [tokens,
  /// width].
  std::vector<float> valid_rows(const std::string& call, const std::string& name) const;

 private:
  convert::SafetensorsFile io_;
};

}  // namespace embert::test
