// SPDX-License-Identifier: Apache-2.0
// Runs a call with buffers of the runtime and reshapes them to the reference's tensors.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "tests/golden/golden_outputs.hpp"
#include "tests/support/system/run_threads.hpp"

namespace embert::test {
namespace {

void check(embert_status status, const char* what) {
  if (status != EMBERT_STATUS_OK)
    throw std::runtime_error(std::string(what) + " gave " + embert_status_name(status));
}

double real(embert_scale scale) { return static_cast<double>(embert_scale_to_float(scale)); }

/// Rows of the tokens of all texts, as [batch, length, width].
template <typename T>
GoldenTensor padded_rows(const GoldenInput& input, std::size_t width, const T* rows, double scale) {
  GoldenTensor out;
  out.shape = {input.lengths.size(), input.length, width};
  out.scale = scale;
  for (const std::uint32_t length : input.lengths) {
    out.values.insert(out.values.end(), rows, rows + length * width);
    out.values.resize(out.values.size() + (input.length - length) * width, GoldenTensor::kAbsent);
    rows += length * width;
  }
  return out;
}

/// Rows of texts, as [batch, width].
template <typename T>
GoldenTensor text_rows(const GoldenInput& input, std::size_t width, const std::vector<T>& rows,
                       embert_scale scale) {
  return {{input.lengths.size(), width}, {rows.begin(), rows.end()}, real(scale)};
}

/// Attention probabilities of a layer as the runtime writes them.
struct LayerAttentions {
  const std::uint16_t* values;  ///< for each text [stored_heads][its length][its keys]
  std::size_t heads, stored_heads;
  const std::vector<std::uint32_t>& keys;  ///< of each text
};

/// [batch, heads, length, padded_keys]. Keys that a text does not have get 0.
GoldenTensor padded_attentions(const GoldenInput& input, const LayerAttentions& layer,
                               std::size_t padded_keys) {
  const std::vector<std::uint32_t>& keys = layer.keys;
  const std::uint16_t* values = layer.values;
  GoldenTensor out;
  out.shape = {input.lengths.size(), layer.heads, input.length, padded_keys};
  out.scale = 1.0 / 32768;
  for (std::size_t text = 0; text < input.lengths.size(); ++text) {
    const std::size_t length = input.lengths[text];
    for (std::size_t head = 0; head < layer.heads; ++head) {
      for (std::size_t query = 0; query < input.length; ++query) {
        if (query >= length) {
          out.values.resize(out.values.size() + padded_keys, GoldenTensor::kAbsent);
          continue;
        }
        const std::uint16_t* row = values + (head * length + query) * keys[text];
        out.values.insert(out.values.end(), row, row + keys[text]);
        out.values.resize(out.values.size() + padded_keys - keys[text], 0);
      }
    }
    values += layer.stored_heads * length * keys[text];
  }
  return out;
}

/// Number of probabilities of a layer in the runtime's layout.
std::size_t attention_values(const GoldenInput& input, std::size_t heads,
                             const std::vector<std::uint32_t>& keys) {
  return heads * std::inner_product(input.lengths.begin(), input.lengths.end(), keys.begin(),
                                    std::size_t{0});
}

}  // namespace

/// Buffers for the outputs of embert_run and embert_encode_source.
struct GoldenEngine::Buffers {
  Buffers(const embert_stack_info& stack, const GoldenInput& input,
          const std::vector<std::uint32_t>& text_keys,
          const std::vector<std::uint32_t>& text_sources)
      : keys(text_keys),
        sources(text_sources),
        hidden_states((stack.num_layers + 1) * input.tokens() * stack.hidden_size),
        scales(stack.num_layers + 1),
        attentions(stack.num_layers * attention_values(input, stack.num_heads, keys)) {
    if (!sources.empty())
      cross_attentions.resize(stack.num_layers * attention_values(input, stack.num_heads, sources));
    output.hidden = &hidden;
    output.hidden_states = hidden_states.data();
    output.hidden_state_scales = scales.data();
    output.attentions = attentions.data();
    output.cross_attentions = sources.empty() ? nullptr : cross_attentions.data();
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  std::vector<std::uint32_t> keys, sources;  ///< that each text attends
  const std::int16_t* hidden = nullptr;
  std::vector<std::int16_t> hidden_states;
  std::vector<embert_scale> scales;
  std::vector<std::uint16_t> attentions, cross_attentions;
  embert_output output = {.size = sizeof(output)};
};

GoldenEngine::GoldenEngine(const AlignedBytes& blob, std::uint32_t isa_mask,
                           std::uint32_t threads) {
  check(embert_model_open(blob.data(), blob.size(), isa_mask, &model_), "embert_model_open");
  check(embert_model_get_info(&model_, &info_), "embert_model_get_info");
  embert_options options = embert_options_default(&model_);
  options.max_batch = 8;
  options.threads = threads;
  options.parallel_for = threads > 1 ? run_threads : nullptr;
  if (info_.cross_hidden_size != 0) options.max_source_tokens = info_.max_tokens;
  std::size_t bytes = 0;
  check(embert_arena_bytes(&model_, &options, &bytes), "embert_arena_bytes");
  arena_ = AlignedBytes(bytes);
  std::memset(arena_.data(), 0xa5, bytes);
  check(embert_engine_init(&model_, &options, arena_.data(), bytes, &engine_),
        "embert_engine_init");
}

void GoldenEngine::clear_cache() {
  if (info_.is_decoder != 0) check(embert_cache_clear(engine_), "embert_cache_clear");
}

void GoldenEngine::set_source(const GoldenSource& source) {
  const embert_source given = {.size = sizeof(given),
                               .states = source.states.data(),
                               .lengths = source.lengths.data(),
                               .batch = static_cast<std::uint32_t>(source.lengths.size()),
                               .scale = source.scale,
                               .mask = source.mask.empty() ? nullptr : source.mask.data()};
  check(embert_set_source(engine_, &given), "embert_set_source");
  source_lengths_ = source.lengths;
  source_length_ = source.length;
}

GoldenOutputs GoldenEngine::collect(std::uint32_t stack_index, const GoldenInput& input,
                                    const Buffers& buffers) const {
  embert_stack_info stack = {.size = sizeof(stack)};
  check(embert_model_get_stack(&model_, stack_index, &stack), "embert_model_get_stack");
  GoldenOutputs out;
  out["last_hidden_state"] =
      padded_rows(input, stack.hidden_size, buffers.hidden, real(buffers.output.hidden_scale));
  for (std::uint32_t i = 0; i <= stack.num_layers; ++i) {
    const std::size_t values = input.tokens() * stack.hidden_size;
    out["hidden_states." + std::to_string(i)] =
        padded_rows(input, stack.hidden_size, buffers.hidden_states.data() + i * values,
                    real(buffers.scales[i]));
  }
  const std::size_t most_keys = *std::ranges::max_element(buffers.keys);
  for (std::uint32_t i = 0; i < stack.num_layers; ++i) {
    const std::size_t heads = embert_model_layer_heads(&model_, stack_index, i);
    const std::size_t values = attention_values(input, stack.num_heads, buffers.keys);
    out["attentions." + std::to_string(i)] =
        padded_attentions(input,
                          {.values = buffers.attentions.data() + i * values,
                           .heads = heads,
                           .stored_heads = stack.num_heads,
                           .keys = buffers.keys},
                          std::max(most_keys, input.length));
    if (buffers.sources.empty()) continue;
    const std::size_t cross_values = attention_values(input, stack.num_heads, buffers.sources);
    out["cross_attentions." + std::to_string(i)] =
        padded_attentions(input,
                          {.values = buffers.cross_attentions.data() + i * cross_values,
                           .heads = heads,
                           .stored_heads = stack.num_heads,
                           .keys = buffers.sources},
                          source_length_);
  }
  return out;
}

GoldenOutputs GoldenEngine::encode_source(const GoldenInput& input) {
  embert_stack_info stack = {.size = sizeof(stack)};
  check(embert_model_get_stack(&model_, 0, &stack), "embert_model_get_stack");
  Buffers buffers(stack, input, input.lengths, {});
  const embert_input view = input.view();
  check(embert_encode_source(engine_, &view, &buffers.output), "embert_encode_source");
  source_lengths_ = input.lengths;
  source_length_ = input.length;
  return collect(0, input, buffers);
}

GoldenOutputs GoldenEngine::run(const GoldenInput& input) {
  const std::uint32_t stack_index = info_.num_stacks - 1;
  embert_stack_info stack = {.size = sizeof(stack)};
  check(embert_model_get_stack(&model_, stack_index, &stack), "embert_model_get_stack");
  const std::size_t batch = input.lengths.size();
  std::vector<std::uint32_t> keys = input.lengths, sources;
  for (std::uint32_t text = 0; text < batch; ++text) {
    if (info_.is_decoder != 0) keys[text] += embert_cache_length(engine_, text);
    if (info_.cross_hidden_size != 0)
      sources.push_back(source_lengths_.at(source_lengths_.size() == 1 ? 0 : text));
  }
  Buffers buffers(stack, input, keys, sources);
  std::vector<std::int16_t> pooled(info_.has_pooler != 0 ? batch * info_.hidden_size : 0);
  std::vector<std::int32_t> logits(batch * info_.num_labels);
  std::vector<std::int32_t> token_logits(input.tokens() * info_.num_token_labels);
  if (!pooled.empty()) buffers.output.pooled = pooled.data();
  if (!logits.empty()) buffers.output.logits = logits.data();
  if (!token_logits.empty()) buffers.output.token_logits = token_logits.data();
  const embert_input view = input.view();
  check(embert_run(engine_, &view, &buffers.output), "embert_run");

  GoldenOutputs out = collect(stack_index, input, buffers);
  if (!pooled.empty())
    out["pooler_output"] = text_rows(input, info_.hidden_size, pooled, buffers.output.pooled_scale);
  if (!logits.empty())
    out["class_logits"] = text_rows(input, info_.num_labels, logits, buffers.output.logits_scale);
  if (!token_logits.empty())
    out["token_logits"] = padded_rows(input, info_.num_token_labels, token_logits.data(),
                                      real(buffers.output.token_logits_scale));
  if (info_.has_lm != 0) out["lm_logits"] = lm_logits(input);
  return out;
}

GoldenOutputs GoldenEngine::run_token_zero(const GoldenInput& input) {
  const std::size_t batch = input.lengths.size();
  std::vector<std::int16_t> pooled(info_.has_pooler != 0 ? batch * info_.hidden_size : 0);
  std::vector<std::int32_t> logits(batch * info_.num_labels);
  embert_output output = {.size = sizeof(output)};
  if (!pooled.empty()) output.pooled = pooled.data();
  if (!logits.empty()) output.logits = logits.data();
  const embert_input view = input.view();
  check(embert_run(engine_, &view, &output), "embert_run");
  GoldenOutputs out;
  if (!pooled.empty())
    out["pooler_output"] = text_rows(input, info_.hidden_size, pooled, output.pooled_scale);
  if (!logits.empty())
    out["class_logits"] = text_rows(input, info_.num_labels, logits, output.logits_scale);
  return out;
}

GoldenTensor GoldenEngine::lm_logits(const GoldenInput& input) {
  const std::size_t width = info_.vocab_size;
  std::vector<std::int32_t> logits(input.tokens() * width);
  embert_scale scale = {};
  for (std::size_t row = 0; row < input.tokens(); ++row) {
    check(embert_lm_logits(engine_, static_cast<std::uint32_t>(row), logits.data() + row * width,
                           &scale),
          "embert_lm_logits");
  }
  return padded_rows(input, width, logits.data(), real(scale));
}

}  // namespace embert::test
