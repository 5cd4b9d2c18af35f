// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/convert/verify_model.hpp"

#include <cmath>

#include "converter/convert_error.hpp"
#include "converter/reference/float_model.hpp"
#include "converter/reference/float_vector.hpp"
#include "converter/verify/folder_ids.hpp"
#include "converter/verify/verify.hpp"
#include "targets/hosted/convert/machine_info.hpp"
#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/model/model_prompts.hpp"

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

namespace {

/// Texts that the float model runs together: bounds the memory of its outputs.
constexpr size_t kPairsTogether = 32;

struct BothModelFiles {
  convert::ModelFolder source;
  convert::FloatModel float_model;
  convert::IntegerModel int8_model;

  BothModelFiles(const ModelFile& file, const std::string& folder, uint32_t threads)
      : source(convert::read_model_folder(folder)),
        float_model(source.config, source.weights, static_cast<int>(threads),
                    convert::FloatProducts::kXnnpack),
        int8_model({file.data(), file.bytes()},
                   {.isa_mask = file.info().isa_mask, .threads = threads}) {}
};

template <typename T>
double cosine_of_rows(const T* a, const T* b, size_t width) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < width; ++i) {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

/// Cosines of texts 0 and 1, 2 and 3, ...
void add_cosines(BothModelFiles& models, const convert::ModelBatch& part, PairScores& scores) {
  const convert::ModelConfig& config = models.source.config;
  const std::vector<int32_t> ids = convert::folder_ids(models.source, models.int8_model);
  const convert::ForwardOutput output = models.float_model.forward_batch(
      ids.empty() ? part : convert::with_folder_ids(config, ids, part), nullptr, {});
  const convert::VectorRows floats =
      convert::float_vectors(models.source.pooling, static_cast<size_t>(config.last().hidden_size),
                             output.last_hidden_state, part.texts.lengths);
  const convert::TextVectors int8 = models.int8_model.embed(part);
  for (size_t i = 0; i + 1 < part.texts.lengths.size(); i += 2) {
    const double* a = floats.values.data() + i * floats.width;
    scores.float32.push_back(cosine_of_rows(a, a + floats.width, floats.width));
    scores.int8.push_back(cosine_of_rows(int8.row(i).data(), int8.row(i + 1).data(), int8.width));
  }
}

}  // namespace

ModelComparison verify_model(const ModelFile& file, const std::string& folder,
                             const embert_hosted_texts& texts, uint32_t threads, size_t worst) {
  check_cpuinfo();
  std::vector<std::string_view> views;
  for (size_t i = 0; i < texts.count; ++i) views.push_back(text_at(texts, i).text);
  Progress progress = progress_of(texts);
  convert::VerifyOptions verify_options;
  verify_options.worst = worst;
  size_t counted = 0;
  verify_options.progress = [&](size_t done) {
    progress.add(done - counted);
    counted = done;
    if (progress.is_due() && progress.report()) throw Cancelled();
  };
  try {
    BothModelFiles models(file, folder, threads);
    ModelComparison comparison = {
        convert::verify(models.source, models.float_model, models.int8_model,
                        convert::batch_of_texts(models.source.config, models.int8_model, views),
                        verify_options),
        models.source.warnings};
    progress.finish();
    return comparison;
  } catch (const convert::ConvertError& error) {
    throw InputError(error.what());
  }
}

PairScores verify_pairs(const ModelFile& file, const std::string& folder,
                        const embert_hosted_texts& pairs, uint32_t threads) {
  check_cpuinfo();
  const std::string prompt = prompt_text(file, {});
  std::vector<std::string> texts;
  for (size_t i = 0; i < pairs.count; ++i) {
    const TextItem item = text_at(pairs, i);
    texts.push_back(prompt + std::string(item.text));
    texts.push_back(prompt + std::string(item.pair.value()));
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  Progress progress = progress_of(pairs);
  PairScores scores;
  try {
    BothModelFiles models(file, folder, threads);
    const convert::ModelBatch all =
        convert::batch_of_texts(models.source.config, models.int8_model, views);
    for (const convert::ModelBatch& part : convert::cut_batch(all, 2 * kPairsTogether)) {
      add_cosines(models, part, scores);
      progress.add(part.texts.lengths.size() / 2);
      if (progress.is_due() && progress.report()) throw Cancelled();
    }
    progress.finish();
  } catch (const convert::ConvertError& error) {
    throw InputError(error.what());
  }
  return scores;
}

}  // namespace embert::hosted
