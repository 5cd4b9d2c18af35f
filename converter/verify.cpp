// SPDX-License-Identifier: Apache-2.0
#include "converter/verify.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "converter/calibration_text.hpp"
#include "converter/random_tokens.hpp"

namespace embert::convert {
namespace {

/// Texts that go through the float model together: bounds the memory of its outputs.
constexpr std::size_t kTextsTogether = 64;
constexpr std::uint64_t kCertificateSeed = 0x636572746966;

/// 1 for two zero vectors, 0 for one.
double cosine(std::span<const double> a, std::span<const std::int32_t> b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i], y = b[i];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  if (aa == 0 && bb == 0) return 1;
  if (aa == 0 || bb == 0) return 0;
  return ab / (std::sqrt(aa) * std::sqrt(bb));
}

template <typename T>
std::int32_t largest(std::span<const T> values) {
  return static_cast<std::int32_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

class Comparison {
 public:
  Comparison(const ModelFolder& folder, const IntegerModel& integers)
      : config_(folder.config), pooling_(folder.pooling) {
    const embert_model_info& info = integers.info();
    const BertConfig& stack = config_.first();
    const auto width = static_cast<std::uint32_t>(stack.hidden_size);
    const std::size_t labels =
        config_.classifier != ClassifierTask::kNone ? config_.label_names.size() : 0;
    if (info.hidden_size != width || info.num_labels != labels ||
        info.vocab_size != static_cast<std::uint32_t>(stack.vocab_size) ||
        info.num_layers != static_cast<std::uint32_t>(stack.num_hidden_layers)) {
      throw ConvertError(
          "the blob is not of this folder: expected hidden size, layers, vocabulary, labels " +
          std::to_string(width) + ", " + std::to_string(stack.num_hidden_layers) + ", " +
          std::to_string(stack.vocab_size) + ", " + std::to_string(labels) + ", found " +
          std::to_string(info.hidden_size) + ", " + std::to_string(info.num_layers) + ", " +
          std::to_string(info.vocab_size) + ", " + std::to_string(info.num_labels));
    }
  }

  bool classifier() const { return config_.classifier == ClassifierTask::kSequenceClassification; }

  void run(FloatModel& floats, IntegerModel& integers, const ModelBatch& part) {
    const TokenBatch& batch = part.texts;
    const ForwardOutput output = run_float(floats, part, nullptr, {});
    const std::size_t texts = batch.lengths.size();
    const TextVectors vectors = classifier() ? integers.classify(batch) : integers.embed(batch);
    const std::vector<double> reference =
        classifier() ? std::vector<double>(output.logits.begin(), output.logits.end())
                     : pool_float(pooling_, static_cast<std::size_t>(config_.first().hidden_size),
                                  output.last_hidden_state, batch.lengths);
    for (std::size_t i = 0; i < texts; ++i) {
      compare({reference.data() + i * vectors.width, vectors.width}, vectors.row(i), vectors.scale);
    }
  }

  VerifyResult result(const VerifyOptions& options) {
    VerifyResult& r = result_;
    r.classifier = classifier();
    r.texts = r.cosines.size();
    std::vector<double> sorted = r.cosines;
    std::sort(sorted.begin(), sorted.end());
    const auto count = static_cast<double>(r.texts);
    r.cosine_mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
    r.cosine_p01 = sorted[(r.texts + 99) / 100 - 1];
    r.cosine_min = sorted.front();
    r.agreement = static_cast<double>(agreeing_) / count;
    if (classifier() && options.labels.size() == r.texts) {
      const auto right = [&](std::int32_t WorstText::*label) {
        std::size_t n = 0;
        for (const WorstText& text : all_) n += text.*label == options.labels[text.text] ? 1u : 0u;
        return static_cast<double>(n) / count;
      };
      r.accuracy_float = right(&WorstText::float_label);
      r.accuracy_int8 = right(&WorstText::int8_label);
    }
    std::stable_sort(all_.begin(), all_.end(), [](const WorstText& a, const WorstText& b) {
      return a.margin != b.margin ? a.margin > b.margin : a.cosine < b.cosine;
    });
    all_.resize(std::min(all_.size(), options.worst));
    r.worst = std::move(all_);
    return std::move(r);
  }

 private:
  void compare(std::span<const double> reference, std::span<const std::int32_t> values,
               double scale) {
    WorstText text;
    text.text = result_.cosines.size();
    text.cosine = cosine(reference, values);
    result_.cosines.push_back(text.cosine);
    if (classifier()) {
      bool agrees = true;
      text.float_label = largest(reference);
      text.int8_label = largest(values);
      text.margin = reference[static_cast<std::size_t>(text.float_label)] -
                    reference[static_cast<std::size_t>(text.int8_label)];
      if (config_.problem_type == ProblemType::kSingleLabel) {
        agrees = text.float_label == text.int8_label;
      }
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double real = values[i] * scale;
        result_.logit_error_max = std::max(result_.logit_error_max, std::abs(real - reference[i]));
        if (config_.problem_type == ProblemType::kMultiLabel) {
          agrees = agrees && (values[i] > 0) == (reference[i] > 0);
        }
      }
      agreeing_ += agrees ? 1u : 0u;
    } else {
      ++agreeing_;
    }
    all_.push_back(text);
  }

  const ModelConfig& config_;
  const PoolingConfig& pooling_;
  VerifyResult result_;
  std::size_t agreeing_ = 0;
  std::vector<WorstText> all_;
};

}  // namespace

std::vector<double> pool_float(const PoolingConfig& pooling, std::size_t hidden_size,
                               std::span<const float> hidden,
                               std::span<const std::int32_t> lengths) {
  std::vector<double> pooled;
  pooled.reserve(lengths.size() * hidden_size);
  const float* rows = hidden.data();
  for (const std::int32_t signed_length : lengths) {
    const auto length = static_cast<std::size_t>(signed_length);
    for (std::size_t c = 0; c < hidden_size; ++c) {
      double value = static_cast<double>(rows[c]);
      for (std::size_t t = 1; t < length && pooling.kind != PoolingKind::kCls; ++t) {
        const double next = static_cast<double>(rows[t * hidden_size + c]);
        value = pooling.kind == PoolingKind::kMax ? std::max(value, next) : value + next;
      }
      pooled.push_back(pooling.kind == PoolingKind::kMean ? value / static_cast<double>(length)
                                                          : value);
    }
    rows += length * hidden_size;
  }
  return pooled;
}

VerifyResult verify(const ModelFolder& folder, FloatModel& floats, IntegerModel& integers,
                    const ModelBatch& batch, const VerifyOptions& options) {
  if (batch.texts.lengths.empty()) throw ConvertError("nothing to verify: no texts");
  Comparison comparison(folder, integers);
  for (const ModelBatch& part : cut_batch(batch, kTextsTogether)) {
    comparison.run(floats, integers, part);
  }
  VerifyResult result = comparison.result(options);
  result.tokens = batch.texts.ids.size();
  return result;
}

std::string obstacle_to_verify(const ModelConfig& config) {
  return config.last().is_decoder ? "the model is a decoder" : "";
}

nlohmann::ordered_json certificate_json(const VerifyResult& result) {
  const auto rounded = [](double value, double units) { return std::round(value * units) / units; };
  nlohmann::ordered_json json = {{"texts", result.texts},
                                 {"tokens", result.tokens},
                                 {"cosine_mean", rounded(result.cosine_mean, 1e5)},
                                 {"cosine_p01", rounded(result.cosine_p01, 1e5)},
                                 {"cosine_min", rounded(result.cosine_min, 1e5)}};
  if (result.classifier) {
    json["agreement"] = rounded(result.agreement, 1e4);
    json["logit_error_max"] = rounded(result.logit_error_max, 1e3);
  }
  return json;
}

nlohmann::ordered_json certify(const ModelFolder& folder, FloatModel& floats,
                               std::span<const std::uint8_t> blob, std::uint32_t isa_mask,
                               std::uint32_t threads, const ModelBatch& ids) {
  IntegerModel::Options options;
  options.isa_mask = isa_mask;
  options.threads = threads;
  IntegerModel integers(blob, options);
  const bool has_text = integers.info().has_tokenizer != 0;
  return certificate_json(verify(
      folder, floats, integers,
      has_text ? complete_batch(folder.config, integers.tokenize(builtin_certificate_texts()), true,
                                kCertificateSeed)
               : ids));
}

}  // namespace embert::convert
