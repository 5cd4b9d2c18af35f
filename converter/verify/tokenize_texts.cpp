// SPDX-License-Identifier: Apache-2.0
#include "converter/verify/tokenize_texts.hpp"

#include <bit>
#include <utility>

#include "converter/export/write_blob.hpp"
#include "converter/quantize/encode_integers.hpp"
#include "converter/verify/integer_model.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert::convert {
namespace {

QuantizedDense empty_dense(std::size_t outputs, std::size_t inputs) {
  QuantizedDense dense;
  dense.outputs = pad_columns(outputs);
  dense.inputs = inputs;
  dense.weights.resize(dense.outputs * inputs);
  dense.bias.resize(dense.outputs);
  dense.multiplier.resize(dense.outputs);
  dense.residual.resize(dense.outputs);
  dense.constant.resize(dense.outputs);
  return dense;
}

// The smallest model that can carry a tokenizer: the runtime tokenizes only with a whole blob.
std::vector<std::uint8_t> tokenizer_blob(const std::vector<std::uint8_t>& section,
                                         const StackConfig& config, int max_tokens) {
  QuantizedModel model;
  QuantizedStack& stack = model.stacks.emplace_back();
  BlobStack& record = stack.record;
  record.hidden_size = record.head_size = record.type_vocab_size = 1;
  record.vocab_size = static_cast<std::uint32_t>(config.vocab_size);
  record.max_positions = static_cast<std::uint32_t>(max_tokens);
  record.embedding_scale = record.hidden_scale = std::bit_cast<std::uint32_t>(1.0f);
  stack.word_embeddings.resize(record.vocab_size);
  stack.word_multipliers.resize(record.vocab_size);
  stack.positions.resize(record.max_positions);
  stack.segments.resize(1);
  QuantizedNorm norm;
  norm.record.epsilon_n2 = 1;
  norm.record.shift = 8;
  norm.gain.resize(1);
  norm.bias.resize(1);
  QuantizedLayer layer;
  layer.ffn_norm = stack.final_norm = norm;
  stack.input_norms = {norm};
  layer.record.num_heads = layer.record.intermediate_size = 1;
  layer.record.activation_exponent = 10;
  layer.hidden_multiplier.resize(1);
  layer.hidden_offset.resize(1);
  layer.qkv = empty_dense(3 * kPanelColumns, 1);
  const EncodedScore score = encode_score(1);
  layer.self.score_multipliers = {score.multiplier};
  layer.self.score_caps = {score.cap};
  layer.self.context_multipliers.resize(kPanelColumns);
  layer.self.out = layer.ffn_up = layer.ffn_down = empty_dense(1, 1);
  const std::uint32_t positions = record.max_positions;
  stack.layers.push_back(std::move(layer));
  BlobExtras extras;
  extras.max_tokens = positions;
  extras.tokenizer = section;
  return write_blob(model, extras);
}

}  // namespace

TokenBatch tokenize_texts(const std::vector<std::uint8_t>& section, const StackConfig& config,
                          int max_tokens, std::span<const std::string_view> texts) {
  const std::vector<std::uint8_t> blob = tokenizer_blob(section, config, max_tokens);
  const IntegerModel model(blob, {});
  return model.tokenize(texts);
}

std::vector<std::uint64_t> count_tokens(const std::vector<std::uint8_t>& section,
                                        const StackConfig& config,
                                        std::span<const std::string> texts,
                                        std::span<const std::string> prompts) {
  const std::vector<std::uint8_t> blob = tokenizer_blob(section, config, 1);
  const IntegerModel model(blob, {});
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(config.vocab_size));
  for (const std::string& text : texts) {
    for (const std::string& prompt : prompts) {
      for (const std::int32_t id : model.tokenize_whole(prompt + text)) {
        ++counts[static_cast<std::size_t>(id)];
      }
    }
  }
  return counts;
}

}  // namespace embert::convert
