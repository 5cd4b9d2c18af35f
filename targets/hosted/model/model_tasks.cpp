// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/model/model_tasks.hpp"

#include <string_view>

#include "embert/embert_inspect.h"
#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::hosted {
namespace {

bool has_classifier(const embert_model_info& info, uint32_t task) {
  return info.cross_hidden_size == 0 && info.num_labels > 0 && info.classifier_task == task;
}

bool has_token_classifier(const embert_model_info& info, uint32_t task) {
  return info.cross_hidden_size == 0 && info.num_token_labels > 0 && info.token_task == task;
}

struct TaskEntry {
  Task task;                        ///< its index in kTasks
  std::string_view subcommands[2];  ///< the second may be empty
  const char* needs;                ///< what a model without the task lacks
  embert_status status;             ///< for the message of such a model
  bool (*can)(const embert_model_info& info);
};

constexpr TaskEntry kTasks[] = {
    {Task::kEmbed,
     {"embed", "similarity"},
     "vectors of a text alone",
     EMBERT_STATUS_NO_SOURCE,
     [](const embert_model_info& info) { return info.cross_hidden_size == 0; }},
    {Task::kClassify,
     {"classify", "rerank"},
     "classifier",
     EMBERT_STATUS_NO_CLASSIFIER,
     [](const embert_model_info& info) {
       return has_classifier(info, EMBERT_CLASSIFIER_SEQUENCE) ||
              has_classifier(info, EMBERT_CLASSIFIER_NEXT_SENTENCE);
     }},
    {Task::kNextSentence,
     {"next-sentence"},
     "head for next sentences",
     EMBERT_STATUS_NO_CLASSIFIER,
     [](const embert_model_info& info) {
       return has_classifier(info, EMBERT_CLASSIFIER_NEXT_SENTENCE);
     }},
    {Task::kChoose,
     {"choose"},
     "multiple choice head",
     EMBERT_STATUS_NO_CLASSIFIER,
     [](const embert_model_info& info) {
       return has_classifier(info, EMBERT_CLASSIFIER_MULTIPLE_CHOICE);
     }},
    {Task::kTag,
     {"tag"},
     "token classifier",
     EMBERT_STATUS_NO_TOKEN_CLASSIFIER,
     [](const embert_model_info& info) {
       return has_token_classifier(info, EMBERT_TOKENS_LABELS);
     }},
    {Task::kAnswer,
     {"answer"},
     "head for answers",
     EMBERT_STATUS_NO_TOKEN_CLASSIFIER,
     [](const embert_model_info& info) {
       return has_token_classifier(info, EMBERT_TOKENS_ANSWER);
     }},
    {Task::kFillMask,
     {"fill-mask"},
     "masked language model head",
     EMBERT_STATUS_NO_LM,
     [](const embert_model_info& info) { return info.has_lm != 0 && info.is_decoder == 0; }},
    {Task::kGenerate,
     {"generate"},
     "decoder with a language model head, alone or with its encoder",
     EMBERT_STATUS_NOT_A_DECODER,
     [](const embert_model_info& info) {
       return info.has_lm != 0 && info.is_decoder != 0 &&
              (info.cross_hidden_size == 0 || info.num_stacks == 2);
     }}};

}  // namespace

std::vector<std::string> task_names(const embert_model_info& info) {
  // A relevance head has a label or two, one for inference between texts three.
  constexpr uint32_t kMostLabelsOfReranker = 3;
  std::vector<std::string> names;
  for (const TaskEntry& entry : kTasks) {
    for (const std::string_view name : entry.subcommands) {
      const bool senseless = name == "rerank" && info.num_labels > kMostLabelsOfReranker;
      if (!name.empty() && !senseless && entry.can(info)) names.emplace_back(name);
    }
  }
  return names;
}

void require_task(const ModelFile& file, Task task) {
  const TaskEntry& entry = kTasks[static_cast<size_t>(task)];
  if (entry.can(file.info())) return;
  std::string known;
  for (const std::string& name : task_names(file.info())) {
    known += (known.empty() ? "" : ", ") + name;
  }
  throw UsageError(quoted_path(file.path()) + ": the model has no " + entry.needs + " (" +
                   embert_status_name(entry.status) +
                   "); it can do: " + (known.empty() ? "nothing that this tool runs" : known));
}

}  // namespace embert::hosted
