// SPDX-License-Identifier: Apache-2.0
#include "tests/converter/reference/float_reference.hpp"

#include <algorithm>
#include <cmath>

namespace embert::test {
namespace {

using convert::AttentionWeights;
using convert::NormPosition;
using convert::PositionKind;
using convert::StackConfig;

double dot(const double* a, const double* b, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

Rows add(const Rows& a, const Rows& b) {
  Rows out = a;
  for (std::size_t r = 0; r < a.size(); ++r) {
    for (std::size_t c = 0; c < a[r].size(); ++c) out[r][c] += b[r][c];
  }
  return out;
}

std::vector<double> row_of(const convert::Matrix& matrix, std::size_t r) {
  return {matrix.row(r), matrix.row(r) + matrix.cols};
}

Rows embed(const StackConfig& config, const convert::StackWeights& w, const ReferenceText& text) {
  Rows out;
  const std::size_t tokens = text.embeddings.empty() ? text.ids.size() : text.embeddings.size();
  for (std::size_t i = 0; i < tokens; ++i) {
    std::vector<double> row = text.embeddings.empty()
                                  ? row_of(w.word_embeddings, static_cast<std::size_t>(text.ids[i]))
                                  : text.embeddings[i];
    const auto type = static_cast<std::size_t>(text.type_ids.empty() ? 0 : text.type_ids[i]);
    const std::vector<double> segment = row_of(w.token_type_embeddings, type);
    for (std::size_t c = 0; c < row.size(); ++c) row[c] += segment[c];
    if (config.position_kind == PositionKind::kAbsolute) {
      const auto p = text.position_ids.empty() ? i : static_cast<std::size_t>(text.position_ids[i]);
      const std::vector<double> position = row_of(w.position_embeddings, p);
      for (std::size_t c = 0; c < row.size(); ++c) row[c] += position[c];
    }
    out.push_back(std::move(row));
  }
  return out;
}

// Hidden keys get no weight; where all keys are hidden the weights are even, as in transformers.
std::vector<double> softmax(const std::vector<double>& scores, const std::vector<bool>& hidden) {
  std::vector<double> out(scores.size());
  double total = 0;
  const bool all_hidden = std::ranges::all_of(hidden, [](bool h) { return h; }) && !hidden.empty();
  for (std::size_t j = 0; j < scores.size(); ++j) {
    out[j] = all_hidden ? 1 : !hidden.empty() && hidden[j] ? 0 : std::exp(scores[j]);
    total += out[j];
  }
  for (double& p : out) p /= total;
  return out;
}

struct Attended {
  Rows out;
  std::vector<Rows> probabilities;  // [heads]
};

struct AttentionInput {
  const AttentionWeights& weights;
  const Rows& in;      // of the queries
  const Rows& source;  // of keys and values
  bool causal;
  const std::vector<std::vector<bool>>& hidden;
  const double* factors;  // the layer's part of the head mask, or null
};

Attended attend(const StackConfig& config, const AttentionInput& input) {
  const AttentionWeights& w = input.weights;
  const Rows &in = input.in, &source = input.source;
  const auto size = static_cast<std::size_t>(config.head_size());
  const std::size_t heads = w.query.weight.rows / size;
  const Rows q = reference_linear(in, w.query), k = reference_linear(source, w.key),
             v = reference_linear(source, w.value);
  Attended result;
  Rows context(in.size(), std::vector<double>(heads * size));
  for (std::size_t h = 0; h < heads; ++h) {
    Rows& of_head = result.probabilities.emplace_back();
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t keys = input.causal ? i + 1 : source.size();
      std::vector<double> scores;
      for (std::size_t j = 0; j < keys; ++j) {
        const double *query = q[i].data() + h * size, *key = k[j].data() + h * size;
        double score = dot(query, key, size);
        if (w.distance_embedding.rows > 0) {
          const std::size_t longest = (w.distance_embedding.rows + 1) / 2;
          const std::vector<double> e = row_of(w.distance_embedding, i + longest - 1 - j);
          score += dot(query, e.data(), size);
          if (config.position_kind == PositionKind::kRelativeKeyQuery) {
            score += dot(key, e.data(), size);
          }
        }
        scores.push_back(score / std::sqrt(static_cast<double>(size)));
      }
      std::vector<bool> hides = input.hidden.empty() ? std::vector<bool>() : input.hidden[i];
      hides.resize(hides.empty() ? 0 : keys);
      std::vector<double> p = softmax(scores, hides);
      for (double& value : p) value *= input.factors == nullptr ? 1 : input.factors[h];
      for (std::size_t j = 0; j < keys; ++j) {
        for (std::size_t d = h * size; d < (h + 1) * size; ++d) context[i][d] += p[j] * v[j][d];
      }
      p.resize(source.size());
      of_head.push_back(std::move(p));
    }
  }
  result.out = reference_linear(context, w.out);
  return result;
}

}  // namespace

Rows reference_linear(const Rows& in, const convert::Linear& layer) {
  Rows out;
  for (const auto& x : in) {
    auto& y = out.emplace_back();
    for (std::size_t n = 0; n < layer.weight.rows; ++n) {
      y.push_back(static_cast<double>(layer.bias[n]) +
                  dot(row_of(layer.weight, n).data(), x.data(), x.size()));
    }
  }
  return out;
}

Rows reference_norm(const Rows& in, const convert::LayerNorm& norm, double eps) {
  Rows out = in;
  for (auto& row : out) {
    const auto size = static_cast<double>(row.size());
    double mean = 0, variance = 0;
    for (const double x : row) mean += x / size;
    for (const double x : row) variance += (x - mean) * (x - mean) / size;
    for (std::size_t c = 0; c < row.size(); ++c) {
      row[c] = (row[c] - mean) / std::sqrt(variance + eps) * static_cast<double>(norm.gamma[c]) +
               static_cast<double>(norm.beta[c]);
    }
  }
  return out;
}

double reference_act(convert::HiddenAct act, double x) {
  using convert::HiddenAct;
  switch (act) {
    case HiddenAct::kGelu:
      return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case HiddenAct::kGeluNew:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case HiddenAct::kRelu:
      return std::max(x, 0.0);
    case HiddenAct::kSilu:
      return x / (1 + std::exp(-x));
    case HiddenAct::kTanh:
      return std::tanh(x);
  }
  return 0;
}

ReferenceOutput reference_stack(const StackConfig& config, const convert::StackWeights& weights,
                                const ReferenceText& text) {
  const bool pre = config.norm_position == NormPosition::kPre;
  const double eps = config.layer_norm_eps;
  ReferenceOutput out;
  Rows sum = embed(config, weights, text);
  std::size_t heads_before = 0;
  for (std::size_t l = 0; l < weights.layers.size(); ++l) {
    const convert::LayerWeights& layer = weights.layers[l];
    const auto& input_norm = weights.input_norms[l];
    const double* factors = text.head_mask.empty() ? nullptr : text.head_mask.data() + heads_before;
    Rows in = input_norm ? reference_norm(sum, *input_norm, eps) : sum;
    out.hidden_states.push_back(pre ? sum : in);
    Attended self = attend(config, {.weights = layer.attention,
                                    .in = in,
                                    .source = in,
                                    .causal = config.is_decoder,
                                    .hidden = text.hidden,
                                    .factors = factors});
    heads_before += self.probabilities.size();
    out.attentions.push_back(std::move(self.probabilities));
    sum = add(self.out, pre ? sum : in);
    if (layer.cross) {
      in = reference_norm(sum, layer.cross_norm, eps);
      Attended cross = attend(config, {.weights = *layer.cross,
                                       .in = in,
                                       .source = text.source,
                                       .causal = false,
                                       .hidden = text.source_hidden,
                                       .factors = factors});
      out.cross_attentions.push_back(std::move(cross.probabilities));
      sum = add(cross.out, pre ? sum : in);
    }
    in = reference_norm(sum, layer.ffn_norm, eps);
    Rows inner = reference_linear(in, layer.ffn_up);
    for (auto& row : inner) {
      for (double& value : row) value = reference_act(config.hidden_act, value);
    }
    sum = add(reference_linear(inner, layer.ffn_down), pre ? sum : in);
  }
  out.last_hidden_state = reference_norm(sum, weights.final_norm, eps);
  out.hidden_states.push_back(pre ? sum : out.last_hidden_state);
  return out;
}

}  // namespace embert::test
