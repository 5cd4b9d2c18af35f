// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/task_by_name.hpp"

#include "targets/hosted/tasks/answer_task.hpp"
#include "targets/hosted/tasks/classify_task.hpp"
#include "targets/hosted/tasks/common/json_options.hpp"
#include "targets/hosted/tasks/fill_mask_task.hpp"
#include "targets/hosted/tasks/generate_task.hpp"
#include "targets/hosted/tasks/tag_task.hpp"
#include "targets/hosted/tasks/tokenize_task.hpp"

namespace embert::hosted {
namespace {

void take_windows(JsonOptions& given, WindowOptions& windows) {
  given.take("window", windows.window, {1, 512});
  given.take("stride", windows.stride, {0, 512});
}

TextTask tokenize_by_options(HostedModel& model, JsonOptions& given) {
  given.finish();
  return prepare_tokenize(model);
}

TextTask classify_by_options(HostedModel& model, JsonOptions& given) {
  ClassifyOptions options;
  given.take("function", options.function);
  given.take("top", options.top, {1, 4096});
  given.take("threshold", options.threshold);
  given.take("reject-label", options.reject_label);
  given.finish();
  return prepare_classify(model, options);
}

TextTask tag_by_options(HostedModel& model, JsonOptions& given) {
  TagOptions options;
  given.take("aggregation", options.aggregation);
  take_windows(given, options.windows);
  given.finish();
  return prepare_tag(model, options);
}

TextTask answer_by_options(HostedModel& model, JsonOptions& given) {
  AnswerOptions options;
  given.take("top", options.top, {1, 1000});
  std::optional<uint32_t> longest;
  given.take("max-answer-tokens", longest, {1, 512});
  options.max_answer_tokens = longest.value_or(options.max_answer_tokens);
  given.take("allow-no-answer", options.allow_no_answer);
  take_windows(given, options.windows);
  given.finish();
  return prepare_answer(model, options);
}

TextTask fill_mask_by_options(HostedModel& model, JsonOptions& given) {
  FillMaskOptions options;
  given.take("top", options.top, {1, 1000});
  given.take("targets", options.targets);
  given.finish();
  return prepare_fill_mask(model, options);
}

TextTask generate_by_options(HostedModel& model, JsonOptions& given) {
  GenerateOptions options;
  DecodingOptions& decoding = options.decoding;
  given.take("ids", options.ids);
  given.take("max-new-tokens", decoding.max_new_tokens, {1, 512});
  given.take("beams", decoding.beams, {1, 64});
  given.take("sample", decoding.sample);
  given.take("temperature", decoding.temperature);
  given.take("top-k", decoding.top_k, {1, 65536});
  given.take("top-p", decoding.top_p);
  given.take("seed", decoding.seed, {0, UINT32_MAX});
  given.finish();
  return prepare_generate(model, options);
}

struct NamedTask {
  const char* name;
  TextTask (*prepare)(HostedModel& model, JsonOptions& given);
};

constexpr NamedTask kNamedTasks[] = {
    {"tokenize", tokenize_by_options},
    {"classify", classify_by_options},
    {"tag", tag_by_options},
    {"answer", answer_by_options},
    {"fill-mask", fill_mask_by_options},
    {"generate", generate_by_options},
};

}  // namespace

TextTask task_by_name(HostedModel& model, const std::string& name, const char* options) {
  std::string known;
  for (const NamedTask& task : kNamedTasks) {
    if (name == task.name) {
      JsonOptions given(name, options);
      return task.prepare(model, given);
    }
    known += (known.empty() ? "" : ", ") + std::string(task.name);
  }
  throw UsageError("unknown task \"" + one_line(name) + "\"; there are " + known);
}

}  // namespace embert::hosted
