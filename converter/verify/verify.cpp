// SPDX-License-Identifier: Apache-2.0
#include "converter/verify/verify.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/calibrate/tokens/builtin_texts.hpp"
#include "converter/calibrate/tokens/random_tokens.hpp"
#include "converter/convert_error.hpp"
#include "converter/reference/float_model.hpp"
#include "converter/verify/compared_output.hpp"
#include "converter/verify/hidden_errors.hpp"
#include "converter/verify/vocabulary/folder_ids.hpp"
#include "embert/embert_inspect.h"

namespace embert::convert {
namespace {

// Texts that the float model runs together: bounds the memory of its outputs.
constexpr std::size_t kComparedTogether = 64;
constexpr std::uint64_t kCertificateSeed = 0x636572746966;

// Throws ConvertError where the blob was made from another folder. `ids`: folder_ids().
void require_same_shape(const ModelFolder& folder, const IntegerModel& integers,
                        const std::vector<std::int32_t>& ids) {
  const ModelConfig& config = folder.config;
  const auto require = [](const std::string& what, std::size_t expected, std::size_t found) {
    if (found == expected) return;
    throw ConvertError("the blob is not of this folder: expected " + what + " " +
                       std::to_string(expected) + " as in config.json, found " +
                       std::to_string(found));
  };
  const auto size = [](int value) { return static_cast<std::size_t>(value); };
  const embert_model_info& info = integers.info();
  require("stacks", config.stacks.size(), info.num_stacks);
  for (std::uint32_t s = 0; s < info.num_stacks; ++s) {
    const StackConfig& expected = config.stacks[s];
    embert_stack_info found = {.size = sizeof(found)};
    embert_model_get_stack(&integers.model(), s, &found);
    require("hidden_size", size(expected.hidden_size), found.hidden_size);
    require("num_hidden_layers", size(expected.num_hidden_layers), found.num_layers);
    const bool pruned = !ids.empty() && expected.vocab_size == config.first().vocab_size;
    require("vocab_size", pruned ? ids.size() : size(expected.vocab_size), found.vocab_size);
    require("max_position_embeddings", size(expected.max_position_embeddings), found.max_positions);
    require("type_vocab_size", size(expected.type_vocab_size), found.type_vocab_size);
  }
  require("values of a vector", folder.pooling.vector_size(size(config.last().hidden_size)),
          info.vector_size);
  require("is_decoder", config.last().is_decoder ? 1 : 0, info.is_decoder);
  require("cross-attention to states of size", size(config.last().cross_hidden_size),
          info.cross_hidden_size);
  const std::size_t labels = config.label_names.size();
  require("labels", config.classifier != ClassifierTask::kNone ? labels : 0, info.num_labels);
  require("labels of tokens", config.token_classifier != TokenTask::kNone ? labels : 0,
          info.num_token_labels);
  require("language heads", config.language_head != LanguageHeadKind::kNone ? 1 : 0, info.has_lm);
}

// Tokens that the tokenizer puts around each text.
std::vector<std::int32_t> special_ids(const IntegerModel& integers) {
  const std::string_view nothing;
  if (integers.info().has_tokenizer == 0 || integers.info().num_token_labels == 0) return {};
  return integers.tokenize_whole(nothing);
}

// Columns `ids` of the logits over the folder's vocabulary.
std::vector<double> logits_of(const std::vector<std::int32_t>& ids, std::size_t vocabulary,
                              const std::vector<double>& logits) {
  std::vector<double> out;
  for (std::size_t row = 0; row < logits.size(); row += vocabulary) {
    for (const std::int32_t id : ids) {
      out.push_back(logits[row + static_cast<std::size_t>(id)]);
    }
  }
  return out;
}

// The two models that are compared.
struct ComparedModels {
  const ModelFolder& folder;
  FloatModel& floats;
  IntegerModel& integers;
  const std::vector<std::int32_t>& ids;  // folder_ids()
};

// Runs a part of the texts through both models.
void compare_part(const ComparedModels& models, const ModelBatch& part, Comparison& comparison) {
  const auto& [folder, floats, integers, ids] = models;
  const ModelConfig& config = folder.config;
  const Compared compared = comparison.compared();
  const bool pruned = !ids.empty();
  std::vector<double> reference =
      float_output({folder, floats}, compared, pruned ? with_folder_ids(config, ids, part) : part);
  if (compared == Compared::kVocabularyLogits && pruned &&
      config.last().vocab_size == config.first().vocab_size) {
    reference = logits_of(ids, static_cast<std::size_t>(config.last().vocab_size), reference);
  }
  add_texts({reference, integer_output(integers, compared, part)}, part.texts, comparison);
}

}  // namespace

VerifyResult verify(const ModelFolder& folder, FloatModel& floats, IntegerModel& integers,
                    const ModelBatch& batch, const VerifyOptions& options) {
  if (batch.texts.lengths.empty()) throw ConvertError("nothing to verify: no texts");
  const std::vector<std::int32_t> ids = folder_ids(folder, integers);
  require_same_shape(folder, integers, ids);
  Comparison comparison(folder.config, options.see, special_ids(integers));
  std::size_t done = 0;
  for (const ModelBatch& part : cut_batch(batch, kComparedTogether)) {
    compare_part({folder, floats, integers, ids}, part, comparison);
    done += part.texts.lengths.size();
    if (options.progress) options.progress(done);
  }
  VerifyResult result = comparison.take(options);
  result.tokens = batch.texts.ids.size();
  const bool has_layers = folder.config.stacks.size() == 1 && !folder.config.last().is_static;
  if (options.layer_texts > 0 && has_layers && !folder.config.last().is_decoder) {
    const ModelBatch first = cut_batch(batch, options.layer_texts).front();
    const ModelBatch of_folder = ids.empty() ? first : with_folder_ids(folder.config, ids, first);
    result.hidden_errors =
        hidden_errors({folder, floats}, integers, {.floats = of_folder, .integers = first});
  }
  return result;
}

ModelBatch batch_of_texts(const ModelConfig& config, const IntegerModel& integers,
                          std::span<const std::string_view> texts) {
  return batch_of_tokens(config, integers, integers.tokenize(texts));
}

ModelBatch batch_of_tokens(const ModelConfig& config, const IntegerModel& integers,
                           TokenBatch texts) {
  return complete_batch(config, std::move(texts), true, static_cast<int>(integers.max_tokens()),
                        kCertificateSeed);
}

nlohmann::ordered_json answers_json(const VerifyResult& result) {
  return {{"kind", answer_name(result.answer_kind)},
          {"count", result.answers},
          {"differing", result.differing_answers}};
}

nlohmann::ordered_json certificate_json(const VerifyResult& result) {
  const auto rounded = [](double value, double units) { return std::round(value * units) / units; };
  nlohmann::ordered_json json = {{"compared", compared_name(result.compared)},
                                 {"texts", result.texts},
                                 {"tokens", result.tokens},
                                 {"cosine_mean", rounded(result.cosine_mean, 1e5)},
                                 {"cosine_p01", rounded(result.cosine_p01, 1e5)},
                                 {"cosine_min", rounded(result.cosine_min, 1e5)}};
  if (result.compared != Compared::kEmbeddings) {
    json["agreement"] = rounded(result.agreement, 1e4);
    if (result.answer_kind != AnswerKind::kNone) json["answers"] = answers_json(result);
    json["logit_error_max"] = rounded(result.logit_error_max, 1e3);
  }
  return json;
}

VerifyResult certify(const ModelFolder& folder, FloatModel& floats,
                     std::span<const std::uint8_t> blob, const IntegerModel::Options& options,
                     const ModelBatch& ids) {
  IntegerModel integers(blob, options);
  return verify(folder, floats, integers,
                ids.texts.lengths.empty()
                    ? batch_of_texts(folder.config, integers, builtin_certificate_texts())
                    : ids,
                {.layer_texts = kLayerTexts});
}

}  // namespace embert::convert
