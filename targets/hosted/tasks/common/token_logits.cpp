// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/common/token_logits.hpp"

namespace embert::hosted {

static embert_engine* run(const ModelFile& file, WorkSlot& slot, const TextTokens& text,
                          embert_output& output) {
  slot.batch.clear();
  slot.batch.add(text.ids, text.type_ids);
  embert_engine* engine = slot.engine({static_cast<uint32_t>(text.ids.size()), 1});
  const embert_input input = slot.batch.input();
  check_pass(file, embert_run(engine, &input, &output));
  return engine;
}

TokenLogits classify_tokens(const ModelFile& file, WorkSlot& slot, const TextTokens& text) {
  TokenLogits logits = {file.info().num_token_labels, {}, {}};
  logits.values.resize(text.ids.size() * logits.width);
  embert_output output = {.size = sizeof(output)};
  output.token_logits = logits.values.data();
  run(file, slot, text, output);
  logits.scale = output.token_logits_scale;
  return logits;
}

embert_engine* run_text(const ModelFile& file, WorkSlot& slot, const TextTokens& text) {
  embert_output output = {.size = sizeof(output)};
  return run(file, slot, text, output);
}

}  // namespace embert::hosted
