// SPDX-License-Identifier: Apache-2.0
// /tokenize: the tokens of each text, with the keys of `embert tokenize --json`.
#include <algorithm>

#include "targets/hosted/tasks/tokenize_task.hpp"
#include "targets/serve/api/answers.hpp"
#include "targets/serve/api/request_tokens.hpp"
#include "targets/serve/memory_budget.hpp"

namespace embert::serve {

std::string answer_tokenize(const ApiCall& call) {
  HostedModel& model = call.served.model;
  const TextTask task = prepare_tokenize(model);
  const std::vector<RequestText> texts = texts_of(required(call.fields, "input"), "input", true);
  call.fields.finish();
  check_count(texts.size(), "input", call.limits);
  constexpr size_t kBytesPerToken = 128;  // of the answer
  size_t most_tokens = 0;
  for (const RequestText& one : texts) {
    const size_t bytes = one.text.size() + one.pair.value_or("").size();
    most_tokens += std::min<size_t>(bytes + 4, model.max_tokens());
  }
  RequestMemory::current().add(uint64_t{most_tokens} * kBytesPerToken);
  std::string answer = "{\"object\":\"list\",\"data\":[";
  Progress no_progress(nullptr, nullptr, 0);
  for (size_t i = 0; i < texts.size(); ++i) {
    TextList list;
    texts[i].pair ? list.add(texts[i].text, *texts[i].pair) : list.add(texts[i].text);
    const TaskLines result = task.run(list.view(), LineForm::kJson, no_progress);
    if (result.failure) throw RequestError(400, "invalid_value", result.failure->what());
    answer += (i > 0 ? ",{\"index\":" : "{\"index\":") + std::to_string(i) + ',' +
              result.lines[0].substr(1);
  }
  answer += "],\"model\":" + json_line(call.served.name) + '}';
  return answer;
}

}  // namespace embert::serve
