// SPDX-License-Identifier: Apache-2.0
// embert_hosted_convert and embert_hosted_verify, in builds with the converter.
#include "targets/hosted/c_api/hosted_calls.hpp"
#include "targets/hosted/convert/convert_folder.hpp"
#include "targets/hosted/convert/verify_model.hpp"
#include "targets/hosted/read_struct.hpp"
#include "targets/hosted/tasks/common/json_options.hpp"

namespace embert::hosted {
namespace {

constexpr uint32_t kMostTokens = 1 << 20;  // of any tokenizer

void take_path(JsonOptions& given, const char* name, std::optional<std::string>& path) {
  std::string text;
  given.take(name, text);
  if (!text.empty()) path = text;
}

ConvertArguments convert_arguments(const embert_hosted_conversion& conversion) {
  ConvertArguments arguments;
  arguments.paths.folder = conversion.folder;
  arguments.paths.model = conversion.output;
  JsonOptions given("convert", conversion.options);
  take_path(given, "calibration", arguments.paths.calibration);
  take_path(given, "calibration-ids", arguments.paths.calibration_ids);
  take_path(given, "keep-vocabulary", arguments.paths.keep_vocabulary);
  take_path(given, "report", arguments.paths.report);
  given.take("rounding", arguments.rounding);
  given.take("embeddings", arguments.embeddings);
  given.take("precision", arguments.precision);
  given.take("layout", arguments.layout);
  std::optional<uint32_t> max_tokens;
  given.take("max-tokens", max_tokens, {1, 512});
  if (max_tokens) arguments.max_tokens = static_cast<int>(*max_tokens);
  given.take("scripts", arguments.scripts);
  std::optional<uint32_t> vocabulary_size;
  given.take("vocabulary-size", vocabulary_size, {1, kMostTokens});
  if (vocabulary_size) arguments.vocabulary_size = static_cast<int>(*vocabulary_size);
  given.take("threads", arguments.threads, {0, 64});
  given.finish();
  return arguments;
}

}  // namespace
}  // namespace embert::hosted

using namespace embert::hosted;

static_assert(ends_with(offsetof(embert_hosted_conversion, progress_context),
                        &embert_hosted_conversion::progress_context));

embert_hosted_result embert_hosted_convert(const embert_hosted_conversion* conversion,
                                           char** report) {
  return guarded([&] {
    if (report != nullptr) *report = nullptr;
    const auto given = read_struct(conversion, offsetof(embert_hosted_conversion, options),
                                   "embert_hosted_conversion");
    require(given.folder, "folder");
    require(given.output, "output");
    const ConvertArguments arguments = convert_arguments(given);
    check_outputs(arguments.paths);
    const Conversion made = convert_folder(arguments, [&](const std::string& stage, double done) {
      if (given.progress == nullptr) return;
      if (given.progress(given.progress_context, stage.c_str(), done) != 0) throw Cancelled();
    });
    const Json summary = conversion_json(arguments, made);
    char* text = report != nullptr ? copy_for_caller(json_line(summary)) : nullptr;
    try {
      write_conversion(arguments.paths, made, pretty_json(summary));
    } catch (...) {
      embert_hosted_free(text);
      throw;
    }
    if (report != nullptr) *report = text;
  });
}

embert_hosted_result embert_hosted_verify(embert_hosted* model, const char* folder,
                                          const embert_hosted_texts* texts, char** json) {
  return guarded([&] {
    require(json, "json");
    *json = nullptr;
    require(model, "model");
    require(folder, "folder");
    model->model.team();
    const ModelFile& file = model->model.file();
    file.require_tokenizer();
    const embert_hosted_texts list = checked_texts(texts);
    if (list.count == 0) throw UsageError("texts: there are none to compare on");
    const ModelComparison comparison = verify_model(file, folder, list, model->model.threads());
    *json = copy_for_caller(json_line(comparison_json(file, comparison.result, list)));
  });
}
