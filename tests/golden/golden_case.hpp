// SPDX-License-Identifier: Apache-2.0
// One case of the reference data (shared/reference/models/<case> for BERT, families/<case> for
// other encoders): its calls from case.json, and
// their inputs and expected outputs from io.safetensors, in tensors named <call>.<name>.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "converter/import/weights/safetensors_file.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/reference/float_model.hpp"

namespace embert::test {

/// The folder of a case, e.g. "encoder_absolute"; it need not exist.
std::filesystem::path golden_folder(const std::string& shared_dir, const std::string& name);

/// Names of all cases, sorted; none without the data.
std::vector<std::string> golden_cases(const std::string& shared_dir);

/// golden_cases() of the build's data, or {"no_data"}.
std::vector<std::string> all_cases();

/// Why a case can not be tested: there is no data, or its family is not converted. Empty if it can.
std::string why_no_golden_case(const std::string& shared_dir, const std::string& name);

/// A call's texts without padding, and the length of the padded [batch, length] outputs.
struct GoldenTexts {
  convert::TokenBatch batch;
  std::size_t padded_length = 0;
};

class GoldenCase {
 public:
  explicit GoldenCase(const std::filesystem::path& folder);

  /// Names of the calls in rising order, but for those with positions that embert can not give:
  /// rows of the table before that of position 0.
  std::vector<std::string> calls() const;
  /// "forward", "steps", "greedy" or "encoder_decoder_greedy".
  const std::string& kind(const std::string& call) const { return records_.at(call).kind; }
  /// Names of the expected outputs; every tensor of a call is an input or an output.
  const std::vector<std::string>& outputs(const std::string& call) const {
    return records_.at(call).outputs;
  }
  /// The name under which embert has an output. It has a hidden state for every layer that runs,
  /// transformers' ALBERT one for the inner_group_num layers of a group together.
  std::string own_name(const std::string& output) const;
  /// A whole number among the arguments, e.g. "new_tokens".
  std::int64_t argument(const std::string& call, const std::string& name) const {
    return records_.at(call).numbers.at(name);
  }

  /// Names of a call's tensors, inputs and outputs, in rising order.
  std::vector<std::string> names(const std::string& call) const;
  bool has(const std::string& call, const std::string& name) const;
  std::vector<std::uint64_t> shape(const std::string& call, const std::string& name) const;
  std::vector<float> floats(const std::string& call, const std::string& name) const;
  std::vector<std::int32_t> ints(const std::string& call, const std::string& name) const;
  /// position_ids, counted from 0: the reference's are rows of the table as they are.
  std::vector<std::int32_t> positions(const std::string& call, const std::string& name) const;

  /// Whether the padding of a batch changes the token before it.
  bool reads_padding() const { return reads_padding_; }

  /// input_ids, token_type_ids and attention_mask of a call. Nothing if they are not [batch,
  /// length] with a mask of padding only (1...10...0), if the call has inputs of other kinds, or if
  /// tokens read the padding.
  std::optional<GoldenTexts> texts(const std::string& call) const;
  /// Rows of valid tokens of a [batch, length, width] output, in the order of texts(call): [tokens,
  /// width].
  std::vector<float> valid_rows(const std::string& call, const std::string& name) const;

 private:
  struct Record {
    std::string kind;
    std::vector<std::string> outputs;
    std::map<std::string, std::int64_t> numbers;
  };

  convert::SafetensorsFile io_;
  bool reads_padding_;
  std::int32_t first_position_row_ = 0;  // of position 0
  std::map<std::string, Record> records_;
  std::size_t layers_of_group_ = 1;
};

}  // namespace embert::test
