// SPDX-License-Identifier: Apache-2.0
// One straight pass through the network, chunk by chunk; the shape stands beside every buffer.
#include "converter/float_model.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "converter/float_ops.hpp"
#include "converter/workers.hpp"
#include "converter/xnn_linear.hpp"

namespace embert::convert {
namespace {

// Rows that run together: enough to keep the threads busy, few enough that the buffers stay small.
constexpr std::size_t kChunkRows = 2048;

struct FloatLayer {
  explicit FloatLayer(const LayerWeights& weights)
      : query(weights.attention.query),
        key(weights.attention.key),
        value(weights.attention.value),
        attention_output(weights.attention.output),
        intermediate(weights.intermediate),
        output(weights.output),
        input_norm(*weights.input_norm),
        ffn_norm(weights.ffn_norm) {}

  XnnLinear query, key, value, attention_output, intermediate, output;
  LayerNorm input_norm, ffn_norm;
};

// Values that a fully-connected layer may read.
class Buffer {
 public:
  float* sized(std::size_t count) {
    if (values_.size() < count + kInputPadding) values_.resize(count + kInputPadding);
    return values_.data();
  }

 private:
  std::vector<float> values_;
};

}  // namespace

struct FloatModel::Impl {
  Impl(const ModelConfig& model, const ModelWeights& weights, int threads)
      : config(model.first()),
        pool(make_thread_pool(threads)),
        word(weights.stacks[0].word_embeddings),
        position(weights.stacks[0].position_embeddings),
        token_type(weights.stacks[0].token_type_embeddings),
        output_norm(weights.stacks[0].output_norm) {
    for (const LayerWeights& layer : weights.stacks[0].layers) layers.emplace_back(layer);
    if (weights.pooler) pooler.emplace(*weights.pooler);
    if (weights.classifier) {
      classifier.emplace(*weights.classifier);
      labels = weights.classifier->bias.size();
    }
  }

  void check(const TokenBatch& batch) const;
  void embed(const TokenBatch& batch, std::size_t first_token,
             std::span<const std::int32_t> lengths, float* out) const;
  void run_chunk(const TokenBatch& batch, std::size_t first_text, std::size_t texts,
                 std::size_t first_token, std::size_t rows, const Observer* observer, Output& out);

  BertConfig config;
  ThreadPool pool;
  Matrix word, position, token_type;
  std::vector<FloatLayer> layers;
  LayerNorm output_norm;
  std::optional<XnnLinear> pooler, classifier;
  std::size_t labels = 0;

  Buffer x, y;  // [rows, H] the residual stream: input of a layer, input of its feed-forward block
  Buffer q, k, v, context;  // [rows, H]
  Buffer sum;               // [rows, H] before a LayerNorm
  Buffer ffn;               // [rows, I]
  Buffer first, pooled;     // [texts, H]
  Buffer logits;            // [texts, labels]
};

void FloatModel::Impl::check(const TokenBatch& batch) const {
  const auto fail = [](const std::string& what, std::int32_t value, std::size_t at, int limit) {
    throw ConvertError(what + " " + std::to_string(value) + " at " + std::to_string(at) +
                       " is outside 0.." + std::to_string(limit - 1));
  };
  std::size_t total = 0;
  for (const std::int32_t length : batch.lengths) {
    if (length < 1 || length > config.max_position_embeddings) {
      throw ConvertError("a text of " + std::to_string(length) + " tokens; the model takes 1 to " +
                         std::to_string(config.max_position_embeddings));
    }
    total += static_cast<std::size_t>(length);
  }
  if (batch.ids.size() != total || (!batch.type_ids.empty() && batch.type_ids.size() != total)) {
    throw ConvertError("the lengths of a batch add up to " + std::to_string(total) +
                       ", but it has " + std::to_string(batch.ids.size()) + " ids and " +
                       std::to_string(batch.type_ids.size()) + " type ids");
  }
  for (std::size_t i = 0; i < total; ++i) {
    if (batch.ids[i] < 0 || batch.ids[i] >= config.vocab_size) {
      fail("token id", batch.ids[i], i, config.vocab_size);
    }
    if (!batch.type_ids.empty() &&
        (batch.type_ids[i] < 0 || batch.type_ids[i] >= config.type_vocab_size)) {
      fail("token type id", batch.type_ids[i], i, config.type_vocab_size);
    }
  }
}

void FloatModel::Impl::embed(const TokenBatch& batch, std::size_t first_token,
                             std::span<const std::int32_t> lengths, float* out) const {
  std::size_t token = first_token;
  for (const std::int32_t length : lengths) {
    for (std::size_t p = 0; p < static_cast<std::size_t>(length); ++p, ++token, out += word.cols) {
      const auto type =
          batch.type_ids.empty() ? 0 : static_cast<std::size_t>(batch.type_ids[token]);
      const float* w = word.row(static_cast<std::size_t>(batch.ids[token]));
      const float* t = token_type.row(type);
      const float* at = position.row(p);
      for (std::size_t c = 0; c < word.cols; ++c) out[c] = (w[c] + t[c]) + at[c];
    }
  }
}

void FloatModel::Impl::run_chunk(const TokenBatch& batch, std::size_t first_text, std::size_t texts,
                                 std::size_t first_token, std::size_t rows,
                                 const Observer* observer, Output& out) {
  const std::span<const std::int32_t> lengths(batch.lengths.data() + first_text, texts);
  const auto hidden = static_cast<std::size_t>(config.hidden_size);
  const auto inner = static_cast<std::size_t>(config.intermediate_size);
  const auto heads = static_cast<std::size_t>(config.num_attention_heads);
  const double eps = config.layer_norm_eps;
  pthreadpool_t const threads = pool.get();
  int layer = 0;
  const auto show = [&](ActivationPoint point, const float* data, std::size_t count,
                        std::size_t cols) {
    if (observer != nullptr) (*observer)({point, layer, count, cols, data, lengths, 0});
  };
  const auto show_rows = [&](ActivationPoint point, const float* data) {
    show(point, data, rows, hidden);
  };

  float* const xs = x.sized(rows * hidden);
  float* const ys = y.sized(rows * hidden);
  float* const qs = q.sized(rows * hidden);
  float* const ks = k.sized(rows * hidden);
  float* const vs = v.sized(rows * hidden);
  float* const contexts = context.sized(rows * hidden);
  float* const sums = sum.sized(rows * hidden);
  float* const ffns = ffn.sized(rows * inner);

  embed(batch, first_token, lengths, sums);
  show_rows(ActivationPoint::kEmbeddingSum, sums);

  for (FloatLayer& weights : layers) {
    layer_norm_rows(threads, sums, weights.input_norm, eps, rows, xs);
    show_rows(ActivationPoint::kLayerInput, xs);
    weights.query.run(xs, rows, qs, threads);
    weights.key.run(xs, rows, ks, threads);
    weights.value.run(xs, rows, vs, threads);
    show_rows(ActivationPoint::kQuery, qs);
    show_rows(ActivationPoint::kKey, ks);
    show_rows(ActivationPoint::kValue, vs);
    attend(threads, qs, ks, vs, lengths, hidden, heads, contexts);
    show_rows(ActivationPoint::kContext, contexts);
    weights.attention_output.run(contexts, rows, sums, threads);
    add_values(threads, sums, xs, rows * hidden);
    show_rows(ActivationPoint::kAttentionSum, sums);
    layer_norm_rows(threads, sums, weights.ffn_norm, eps, rows, ys);

    show_rows(ActivationPoint::kFfnInput, ys);
    weights.intermediate.run(ys, rows, ffns, threads);
    show(ActivationPoint::kFfnPreactivation, ffns, rows, inner);
    apply_activation(threads, config.hidden_act, ffns, rows * inner);
    show(ActivationPoint::kFfnActivated, ffns, rows, inner);
    weights.output.run(ffns, rows, sums, threads);
    add_values(threads, sums, ys, rows * hidden);
    show_rows(ActivationPoint::kOutputSum, sums);
    ++layer;
  }
  layer_norm_rows(threads, sums, output_norm, eps, rows, xs);
  show_rows(ActivationPoint::kLastHidden, xs);
  out.last_hidden_state.insert(out.last_hidden_state.end(), xs, xs + rows * hidden);

  if (!pooler) return;
  float* const firsts = first.sized(texts * hidden);
  float* const pooleds = pooled.sized(texts * hidden);
  std::size_t row = 0;
  for (std::size_t text = 0; text < texts; ++text) {
    std::copy_n(xs + row * hidden, hidden, firsts + text * hidden);
    row += static_cast<std::size_t>(lengths[text]);
  }
  pooler->run(firsts, texts, pooleds, threads);
  apply_activation(threads, HiddenAct::kTanh, pooleds, texts * hidden);
  show(ActivationPoint::kPooled, pooleds, texts, hidden);
  out.pooled.insert(out.pooled.end(), pooleds, pooleds + texts * hidden);

  if (!classifier) return;
  float* const scores = logits.sized(texts * labels);
  classifier->run(pooleds, texts, scores, threads);
  show(ActivationPoint::kLogits, scores, texts, labels);
  out.logits.insert(out.logits.end(), scores, scores + texts * labels);
}

FloatModel::FloatModel(const ModelConfig& config, const ModelWeights& weights, int threads)
    : impl_(std::make_unique<Impl>(config, weights, threads)) {}
FloatModel::~FloatModel() = default;
FloatModel::FloatModel(FloatModel&&) noexcept = default;
FloatModel& FloatModel::operator=(FloatModel&&) noexcept = default;

FloatModel::Output FloatModel::forward(const TokenBatch& batch, const Observer* observer,
                                       const ForwardOptions&) {
  impl_->check(batch);
  Output out;
  std::size_t token = 0;
  for (std::size_t text = 0; text < batch.lengths.size();) {
    std::size_t end = text, rows = 0;
    while (end < batch.lengths.size()) {
      const auto length = static_cast<std::size_t>(batch.lengths[end]);
      if (rows != 0 && rows + length > kChunkRows) break;
      rows += length;
      ++end;
    }
    impl_->run_chunk(batch, text, end - text, token, rows, observer, out);
    token += rows;
    text = end;
  }
  return out;
}

}  // namespace embert::convert
