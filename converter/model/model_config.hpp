// SPDX-License-Identifier: Apache-2.0
// A BERT model's configuration, checked. A model is one stack of layers (an encoder or a causal
// decoder) or two (an encoder, then a decoder); its task heads read the last stack. Fields with the
// names of config.json have its meaning. read_config() (import/config/read_config.hpp) fills it in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/format/blob_format.hpp"

namespace embert::convert {

/// The feed-forward block's activation function. gelu is the exact one (with erf), gelu_new its
/// approximation with tanh.
enum class HiddenAct : std::uint32_t {
  kGelu = kActivationGelu,
  kGeluNew = kActivationGeluNew,
  kRelu = kActivationRelu,
  kSilu = kActivationSilu,
  kTanh = kActivationTanh
};

/// How positions enter. kAbsolute: the embedding sum takes one vector per position. Relative: a
/// table E has one vector per relative position d = query - key, and the score takes q.E[d]
/// (kRelativeKey; Shaw et al. 2018, eq. 4), or q.E[d] + k.E[d] (kRelativeKeyQuery; Huang et al.
/// 2020, method 4), before the division by sqrt(head size).
enum class PositionKind : std::uint32_t {
  kAbsolute = kPositionTable,
  kRelativeKey = kPositionRelativeKey,
  kRelativeKeyQuery = kPositionRelativeKeyQuery
};

/// Says which parts of a layer with bottlenecks read the narrow rows (MobileBERT, Sun et al. 2020,
/// section 3.1): BlobBottleneckKind.
enum class BottleneckKind : std::uint32_t {
  kNone = kBottleneckNone,
  kOutput = kBottleneckOutput,
  kInput = kBottleneckInput,
  kShared = kBottleneckShared
};

/// Where LayerNorm stands: after the residual sum (kPost), or before the block that reads the sum
/// (kPre).
enum class NormPosition { kPost, kPre };

/// Rotary positions (Su et al. 2021, equation 34): channels i and i + D/2 of queries and keys turn
/// by position * theta^(-2 i / D).
struct RotaryConfig {
  double theta = 10000;
  double local_theta = 10000;  ///< of the layers that are local
};

/// Layers 0, period, 2 period ... see all keys, the others those at most `reach` tokens away.
struct LocalAttentionConfig {
  int period = 1;
  int reach = 0;
};

/// One stack of layers. Post-LayerNorm stacks have no final_layer_norm. Pre-LayerNorm stacks have
/// one. With embedding_layer_norm their first layer has no LayerNorm of its own: it reads and adds
/// to the output of that of the embeddings. Only decoders have cross_attention.
struct StackConfig {
  int hidden_size = 0;
  /// Width of the embeddings and their LayerNorm where a dense layer projects them to hidden_size;
  /// 0: they have hidden_size.
  int projected_embedding_size = 0;
  /// Width of the word embeddings where a dense layer projects them to hidden_size before positions
  /// and segments are added; 0: they have the width of these.
  int projected_word_size = 0;
  bool trigrams = false;        ///< it reads the next, this and the previous word side by side
  int num_hidden_layers = 0;    ///< that run one after another, whether they share weights or not
  int num_attention_heads = 0;  ///< before pruning; divides hidden_size
  int intermediate_size = 0;
  int num_ffns = 1;  ///< feed-forward networks of a layer, one behind the other
  BottleneckKind bottleneck = BottleneckKind::kNone;
  int bottleneck_size = 0;  ///< width inside a layer with bottlenecks
  bool layer_norms = true;  ///< false: the stack has none; dense layers have absorbed NoNorm
  int vocab_size = 0;
  int max_position_embeddings = 0;  ///< positions that are kept, at most kMaxPositions
  int stored_positions = 0;         ///< max_position_embeddings as the file states it
  int first_position_row = 0;       ///< row of position 0 in the file's table
  /// Tokens with this id have a row of their own, the last of the table, and do not count in the
  /// positions of others (RoBERTa); -1: there is no such id.
  int padding_position_id = -1;
  /// One table of biases for all layers, added to the scores: one for each attention head and
  /// relative position (MPNet; Raffel et al. 2020, section 2.1).
  bool score_bias = false;
  int type_vocab_size = 0;   ///< at least 1
  bool stored_types = true;  ///< false: the file has no segment table; one row of zeros stands in
  HiddenAct hidden_act = HiddenAct::kGelu;
  double layer_norm_eps = 1e-12;
  /// Of the LayerNorms behind the embeddings and behind the last feed-forward network of each
  /// layer; 0: as the others.
  double closing_norm_eps = 0;

  PositionKind position_kind = PositionKind::kAbsolute;
  bool sinusoidal = false;  ///< the position table is computed, not read from the file
  NormPosition norm_position = NormPosition::kPost;
  bool embedding_layer_norm = true;
  bool final_layer_norm = false;
  double embedding_scale = 1;  ///< multiplies the file's word embeddings; read_weights() applies it
  std::optional<RotaryConfig> rotary;  ///< in place of a table; the head size is even
  std::optional<LocalAttentionConfig> local_attention;
  bool gated_ffn = false;  ///< ffn_up's activation is multiplied with LayerWeights::ffn_gate
  // Whether the file has biases; without them they are zero.
  bool attention_bias = true, ffn_bias = true, norm_bias = true;
  bool is_decoder = false;  ///< causal: a token attends to itself and to the tokens before it
  bool cross_attention = false;
  int cross_hidden_size = 0;  ///< width of the encoder states that cross-attention reads, else 0
  /// [layers] attention heads of self-attention after pruning, at least 1 each
  std::vector<int> num_heads_of_layer;
  /// [layers] whose weights each layer has: an index into StackWeights::layers. The indices ascend
  /// by one where they are new. Empty: no layers share weights.
  std::vector<int> weights_of_layer;
  int layers_of_group = 1;  ///< that run in turn as one of transformers' layers (ALBERT)

  /// Static embeddings: no layers; a vector is the mean of the word embeddings of a text's tokens.
  bool is_static = false;
  int dropped_token = -1;  ///< static: a token that does not count; -1: none

  /// The index of a layer's weights.
  std::size_t weights_of(std::size_t layer) const {
    return weights_of_layer.empty() ? layer : static_cast<std::size_t>(weights_of_layer[layer]);
  }
  bool has_embedding_projection() const { return projected_embedding_size > 0; }
  /// Of the sum of words, positions and segments.
  int embedding_size() const {
    return has_embedding_projection() ? projected_embedding_size : hidden_size;
  }
  bool has_word_projection() const { return projected_word_size > 0; }
  /// Of the word embeddings.
  int word_size() const { return has_word_projection() ? projected_word_size : embedding_size(); }
  bool has_bottleneck() const { return bottleneck != BottleneckKind::kNone; }
  /// Width of the rows to which the blocks of a layer add.
  int intra_size() const { return has_bottleneck() ? bottleneck_size : hidden_size; }
  int head_size() const { return intra_size() / num_attention_heads; }
  bool is_local(int layer) const { return local_attention && layer % local_attention->period != 0; }
  /// The first block adds to its input, the LayerNorm of the embeddings, in pre-LayerNorm, too.
  bool adds_to_input(int layer) const {
    return norm_position == NormPosition::kPost || (layer == 0 && embedding_layer_norm);
  }
};

/// [weights] how many layers have each of StackWeights::layers.
std::vector<std::size_t> layers_of_weights(const StackConfig& config);

/// The task head on the pooled vector. Names are those of transformers.
enum class ClassifierTask { kNone, kSequenceClassification, kNextSentence, kMultipleChoice };
/// The task head on each token's hidden state.
/// kReplacedToken, of ELECTRA's discriminator: the labels "O" and "replaced", with the logits 0 and
/// that of the model, so that their softmax is the model's sigmoid.
enum class TokenTask { kNone, kTokenClassification, kQuestionAnswering, kReplacedToken };
/// Logits over the vocabulary. kBert: dense, activation, LayerNorm, then the output embeddings.
/// kLinear: the output embeddings alone.
enum class LanguageHeadKind { kNone, kBert, kLinear };
enum class ProblemType : std::uint32_t {
  kSingleLabel = kProblemSingleLabel,
  kMultiLabel = kProblemMultiLabel,
  kRegression = kProblemRegression
};

/// The vector that classifiers of texts read: act(dense(row)), and a LayerNorm behind it where
/// ModelWeights::pooler has one.
struct PooledConfig {
  bool dense = true;  ///< false: the row as it is
  bool mean = false;  ///< the row is the mean of the tokens; else that of the first token
  HiddenAct act = HiddenAct::kTanh;
};

/// A model: its stacks, and the task heads on the last of them. A pooler without a classifier
/// appears only in ModelWeights::pooler.
struct ModelConfig {
  /// The first model_type of the family (import/families), which names the tensors of the file.
  std::string model_type = "bert";
  std::vector<StackConfig> stacks;  ///< one; or the encoder, then the decoder

  ClassifierTask classifier = ClassifierTask::kNone;
  TokenTask token_classifier = TokenTask::kNone;
  LanguageHeadKind language_head = LanguageHeadKind::kNone;  ///< causal where the stack is
  bool tied_output = true;  ///< the language head's output embeddings are the word embeddings
  ProblemType problem_type = ProblemType::kSingleLabel;  ///< of sequence classification
  PooledConfig pooled;
  /// Of ModelWeights::token_transform and of the language head's transform; absent: that of the
  /// last stack's layers.
  std::optional<HiddenAct> token_act, language_act;
  // Whether the file has biases of the heads' transforms and of the output embeddings; without them
  // they are zero. The transforms' LayerNorms follow StackConfig::norm_bias.
  bool transform_bias = true, output_bias = true;
  /// Of the classifier or token classifier, by class; a model has at most one of the two.
  std::vector<std::string> label_names;

  // -1 where the model has none:
  int pad_token_id = -1;
  int eos_token_id = -1;
  int decoder_start_token_id = -1;

  /// The stack that reads the texts.
  const StackConfig& first() const { return stacks.front(); }
  /// The stack that the task heads read.
  const StackConfig& last() const { return stacks.back(); }
};

/// The reason why the blob of a model can not have BlobPlanes; empty where it can.
std::string why_no_planes(const ModelConfig& config);

}  // namespace embert::convert
