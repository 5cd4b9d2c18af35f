// SPDX-License-Identifier: Apache-2.0
// config.json of a BERT model: what of it matters here, checked. A model is one stack of layers
// (encoder, or causal decoder) or two (encoder, then decoder); its heads stand on the last one.
// Options of the family that embert does not compute are refused by name.
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

/// How positions enter. kTable: a vector a position, added to the embeddings. Relative: a vector E
/// a distance; the score of a query and a key at distance d takes q.E[d] (kRelativeKey; Shaw et al.
/// 2018), or q.E[d] + k.E[d] (kRelativeKeyQuery; Huang et al. 2020), before the division by
/// sqrt(head size).
enum class PositionKind { kTable, kRelativeKey, kRelativeKeyQuery };

/// Where LayerNorm stands: behind the residual sum, or before the block that the sum feeds.
enum class NormPosition { kPost, kPre };

/// One stack. Of the options, post-LayerNorm stacks have no final_layer_norm; pre-LayerNorm stacks
/// have one and no embedding_layer_norm; cross_attention is of decoders.
struct BertConfig {
  int hidden_size = 0;
  int num_hidden_layers = 0;
  int num_attention_heads = 0;  ///< before pruning; divides hidden_size
  int intermediate_size = 0;
  int vocab_size = 0;
  int max_position_embeddings = 0;  ///< at most kMaxPositions: what is kept of the table
  int stored_positions = 0;         ///< max_position_embeddings of the file
  int type_vocab_size = 0;          ///< at least 1
  bool stored_types = true;  ///< false: a model without segments, read as one that is all zero
  HiddenAct hidden_act = HiddenAct::kGelu;
  double layer_norm_eps = 1e-12;

  PositionKind position_kind = PositionKind::kTable;
  bool sinusoidal = false;  ///< the table is computed, not in the file
  NormPosition norm_position = NormPosition::kPost;
  bool embedding_layer_norm = true;
  bool final_layer_norm = false;
  double embedding_scale = 1;  ///< of the word vectors in the file; read_weights() applies it
  bool is_decoder = false;     ///< causal: a token attends itself and what is before it
  bool cross_attention = false;
  int cross_hidden_size = 0;  ///< width of the encoder states that cross-attention reads, else 0
  std::vector<int> num_heads_of_layer;  ///< [layers] after pruning, of self-attention, 1 or more

  int head_size() const { return hidden_size / num_attention_heads; }
};

/// What reads the pooled vector, if anything: names as in transformers.
enum class ClassifierTask { kNone, kSequenceClassification, kNextSentence, kMultipleChoice };
/// What reads every token's vector.
enum class TokenTask { kNone, kTokenClassification, kQuestionAnswering };
/// Logits over the vocabulary: BERT's head (dense, activation, LayerNorm, then the output matrix),
/// or the output matrix alone.
enum class LanguageHeadKind { kNone, kBert, kLinear };
enum class ProblemType { kSingleLabel, kMultiLabel, kRegression };

/// A model: its stacks, and the heads on the last of them. A pooler without a head is
/// ModelWeights::pooler.
struct ModelConfig {
  std::vector<BertConfig> stacks;  ///< one; or the encoder, then the decoder

  ClassifierTask classifier = ClassifierTask::kNone;
  TokenTask token_classifier = TokenTask::kNone;
  LanguageHeadKind language_head = LanguageHeadKind::kNone;  ///< causal where the stack is
  bool tied_output = true;  ///< the language head's matrix is the word embeddings
  ProblemType problem_type = ProblemType::kSingleLabel;  ///< of sequence classification
  /// Of the classifier or token classifier, by class number; a model has one of them at most.
  std::vector<std::string> label_names;

  // -1 when the model has none:
  int pad_token_id = -1;
  int eos_token_id = -1;
  int decoder_start_token_id = -1;

  /// The stack that texts go into.
  const BertConfig& first() const { return stacks.front(); }
  /// The stack that the heads stand on.
  const BertConfig& last() const { return stacks.back(); }
};

/// Reads `folder`/config.json. What is not wrong but worth a line is appended to `warnings`. Throws
/// ConvertError.
ModelConfig read_config(const std::filesystem::path& folder, std::vector<std::string>& warnings);

}  // namespace embert::convert
