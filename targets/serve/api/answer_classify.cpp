// SPDX-License-Identifier: Apache-2.0
// /v1/classify: the labels of each text, or of each pair of texts.
#include <algorithm>

#include "targets/hosted/tasks/classify_task.hpp"
#include "targets/hosted/texts/run_texts.hpp"
#include "targets/serve/api/answers.hpp"
#include "targets/serve/api/request_tokens.hpp"
#include "targets/serve/memory_budget.hpp"

namespace embert::serve {

std::string answer_classify(const ApiCall& call) {
  const ModelFile& file = call.served.model.file();
  ClassifyOptions options;
  call.fields.take("function", options.function);
  call.fields.take("top", options.top, {1, 4096});
  call.fields.take("threshold", options.threshold);
  call.fields.take("reject_label", options.reject_label);
  check_classify_options(file, options);
  const std::vector<RequestText> texts = texts_of(required(call.fields, "input"), "input", true);
  call.fields.finish();
  check_count(texts.size(), "input", call.limits);
  const RequestTokens tokens = tokens_of_texts(call.served, texts);
  const size_t labels = file.info().num_labels;
  constexpr size_t kBytesPerLabel = 256;  // while the answer is made
  const size_t shown = options.top != 0 ? std::min<size_t>(options.top, labels) : labels;
  RequestMemory::current().add(uint64_t{tokens.texts()} *
                               (labels * sizeof(int32_t) + shown * kBytesPerLabel));
  const BatchRows rows = call.served.queue.run(BatchKind::kLogits, tokens.lists);
  std::string answer = "{\"object\":\"list\",\"data\":[";
  for (size_t i = 0; i < tokens.texts(); ++i) {
    Json entry = {{"index", i}};
    add_labels(entry, file,
               {.text = i,
                .tokens = tokens.tokens_of(i),
                .values = rows.logits.data() + i * labels,
                .scale = rows.scale,
                .truncated = tokens.truncated[i]},
               options);
    answer += (i > 0 ? "," : "") + json_line(entry);
  }
  answer += "],\"model\":" + json_line(call.served.name) +
            ",\"usage\":" + json_line(usage_of(tokens)) + '}';
  return answer;
}

}  // namespace embert::serve
