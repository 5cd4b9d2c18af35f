// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/convert/verify_model.hpp"

#include "converter/convert_error.hpp"
#include "converter/reference/float_model.hpp"
#include "converter/verify/verify.hpp"
#include "targets/hosted/convert/machine_info.hpp"
#include "targets/hosted/hosted_error.hpp"

namespace embert::hosted {

static Json worst_texts_json(const ModelFile& file, const convert::VerifyResult& result,
                             const embert_hosted_texts& texts) {
  Json worst = Json::array();
  for (const convert::WorstText& entry : result.worst) {
    Json one = {{"text", text_at(texts, entry.text).text}, {"cosine", entry.cosine}};
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
    json["logit_error_max"] = result.logit_error_max;
  }
  json["cosine_mean"] = result.cosine_mean;
  json["cosine_p01"] = result.cosine_p01;
  json["cosine_min"] = result.cosine_min;
  json["worst"] = worst_texts_json(file, result, texts);
  return json;
}

ModelComparison verify_model(const ModelFile& file, const std::string& folder,
                             const embert_hosted_texts& texts, uint32_t threads) {
  check_cpuinfo();
  std::vector<std::string_view> views;
  for (size_t i = 0; i < texts.count; ++i) views.push_back(text_at(texts, i).text);
  Progress progress = progress_of(texts);
  convert::VerifyOptions verify_options;
  size_t counted = 0;
  verify_options.progress = [&](size_t done) {
    progress.add(done - counted);
    counted = done;
    if (progress.is_due() && progress.report()) throw Cancelled();
  };
  try {
    const convert::ModelFolder source = convert::read_model_folder(folder);
    convert::FloatModel float_model(source.config, source.weights, static_cast<int>(threads),
                                    convert::FloatProducts::kXnnpack);
    convert::IntegerModel::Options options;
    options.isa_mask = file.info().isa_mask;
    options.threads = threads;
    convert::IntegerModel int8_model({file.data(), file.bytes()}, options);
    ModelComparison comparison = {
        convert::verify(source, float_model, int8_model,
                        convert::batch_of_texts(source.config, int8_model, views), verify_options),
        source.warnings};
    progress.finish();
    return comparison;
  } catch (const convert::ConvertError& error) {
    throw InputError(error.what());
  }
}

}  // namespace embert::hosted
