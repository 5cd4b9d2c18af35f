// SPDX-License-Identifier: Apache-2.0
// config.json of a BERT model: what of it matters here, checked. Options of the family that embert
// does not compute are refused by name; each is decided in one place, check_supported().
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "converter/convert_error.hpp"
#include "runtime/format/blob_format.hpp"

namespace embert::convert {

/// gelu is the exact one (with erf), gelu_new its approximation with tanh.
enum class HiddenAct { kGelu, kGeluNew, kRelu, kSilu, kTanh };
const char* hidden_act_name(HiddenAct act);

/// What stands on the encoder and is converted with it. A pooler without a head is
/// BertWeights::pooler.
enum class HeadKind { kNone, kSequenceClassification };
enum class ProblemType { kSingleLabel, kMultiLabel, kRegression };

struct BertConfig {
  int hidden_size = 0;
  int num_hidden_layers = 0;
  int num_attention_heads = 0;  ///< divides hidden_size
  int intermediate_size = 0;
  int vocab_size = 0;
  int max_position_embeddings = 0;  ///< at most kMaxPositions: what is kept of the table
  int stored_positions = 0;         ///< rows of the table in the file
  int type_vocab_size = 0;
  HiddenAct hidden_act = HiddenAct::kGelu;
  double layer_norm_eps = 1e-12;
  int pad_token_id = 0;  ///< -1 when the model has none

  HeadKind head = HeadKind::kNone;
  ProblemType problem_type = ProblemType::kSingleLabel;  ///< of a classification head
  std::vector<std::string> label_names;  ///< of a classification head, by class number

  int head_size() const { return hidden_size / num_attention_heads; }
};

/// Reads `folder`/config.json. What is not wrong but worth a line is appended to `warnings`. Throws
/// ConvertError.
BertConfig read_config(const std::filesystem::path& folder, std::vector<std::string>& warnings);

}  // namespace embert::convert
