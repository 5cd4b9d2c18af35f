// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/convert/verify_model.hpp"

#include "converter/convert_error.hpp"
#include "converter/reference/float_model.hpp"
#include "converter/verify/verify.hpp"
#include "targets/hosted/convert/cosine_histogram.hpp"
#include "targets/hosted/convert/machine_info.hpp"
#include "targets/hosted/hosted_error.hpp"

namespace embert::hosted {

static Json worst_texts_json(const ModelFile& file, const convert::VerifyResult& result,
                             const embert_hosted_texts& texts) {
  Json worst = Json::array();
  for (const convert::WorstText& entry : result.worst) {
    const TextItem item = text_at(texts, entry.text);
    Json one = {{"text", item.text}};
    if (item.pair) one["pair"] = *item.pair;
    one["cosine"] = entry.cosine;
    if (entry.float_label >= 0) {
      one["margin"] = entry.margin;
      one["float_label"] = compared_label(file, entry.float_label);
      one["int8_label"] = compared_label(file, entry.int8_label);
    }
    worst.push_back(std::move(one));
  }
  return worst;
}

std::string compared_label(const ModelFile& file, int32_t label) {
  const char* name =
      label < 0 ? nullptr : embert_model_label(file.model(), static_cast<uint32_t>(label));
  return name ? name : std::to_string(label);
}

Json comparison_json(const ModelFile& file, const convert::VerifyResult& result,
                     const embert_hosted_texts& texts) {
  Json json = {{"compared", convert::compared_name(result.compared)},
               {"texts", result.texts},
               {"tokens", result.tokens}};
  if (result.compared != convert::Compared::kEmbeddings) {
    json["agreement"] = result.agreement;
    if (result.answer_kind != convert::AnswerKind::kNone) {
      json["answers"] = convert::answers_json(result);
    }
    json["logit_error_max"] = result.logit_error_max;
  }
  json["cosine_mean"] = result.cosine_mean;
  json["cosine_p01"] = result.cosine_p01;
  json["cosine_min"] = result.cosine_min;
  Json bins = Json::array();
  for (const CosineBin& bin : cosine_histogram(result.cosines)) {
    bins.push_back({{"from", bin.from}, {"to", bin.to}, {"texts", bin.texts}});
  }
  json["histogram"] = std::move(bins);
  if (!result.hidden_errors.empty()) json["hidden_errors"] = result.hidden_errors;
  json["worst"] = worst_texts_json(file, result, texts);
  return json;
}

ModelComparison verify_tokens(const ModelFile& file, const std::string& folder,
                              const TokensToVerify& input, Progress& progress) {
  file.require_kernels();
  check_cpuinfo();
  convert::VerifyOptions options;
  options.layer_texts = convert::kLayerTexts;
  size_t counted = 0;
  options.progress = [&](size_t done) {
    progress.add(done - counted);
    counted = done;
    if (progress.is_due() && progress.report()) throw Cancelled();
  };
  options.see = input.see;
  try {
    const convert::ModelFolder source = convert::read_model_folder(folder);
    convert::FloatModel float_model(source.config, source.weights, static_cast<int>(input.threads),
                                    convert::FloatProducts::kXnnpack);
    convert::IntegerModel int8_model({file.data(), file.bytes()},
                                     {.isa_mask = file.info().isa_mask, .threads = input.threads});
    ModelComparison comparison = {
        convert::verify(source, float_model, int8_model,
                        convert::batch_of_tokens(source.config, int8_model, input.tokens), options),
        source.warnings};
    progress.finish();
    return comparison;
  } catch (const convert::ConvertError& error) {
    throw InputError(error.what());
  }
}

void add_tokens(convert::TokenBatch& batch, const TextTokens& tokens) {
  batch.ids.insert(batch.ids.end(), tokens.ids.begin(), tokens.ids.end());
  batch.type_ids.insert(batch.type_ids.end(), tokens.type_ids.begin(), tokens.type_ids.end());
  batch.lengths.push_back(static_cast<int32_t>(tokens.ids.size()));
}

ModelComparison verify_model(const ModelFile& file, const std::string& folder,
                             const embert_hosted_texts& texts, uint32_t threads) {
  TokensToVerify input = {.threads = threads};
  for (size_t i = 0; i < texts.count; ++i) {
    add_tokens(input.tokens,
               tokenize_text(*file.model(), text_at(texts, i), file.info().max_tokens));
  }
  Progress progress = progress_of(texts);
  return verify_tokens(file, folder, input, progress);
}

}  // namespace embert::hosted
