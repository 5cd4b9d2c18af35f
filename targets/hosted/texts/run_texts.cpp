// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/texts/run_texts.hpp"

#include <algorithm>
#include <atomic>

#include "targets/hosted/texts/token_chunk.hpp"

namespace embert::hosted {
namespace {

/// The results of a pass.
template <typename T>
struct Rows {
  size_t width;
  const T* values;  ///< [texts x width]
  embert_scale scale;
};

/// Runs all texts. pass(slot, engine) runs slot.batch. Texts without tokens get a null row.
template <typename T, typename Pass, typename Sink>
void run_texts(HostedModel& model, const PromptedTexts& input, Progress& progress, const Pass& pass,
               const Sink& sink) {
  const embert_hosted_texts& texts = input.texts;
  model.file().require_tokenizer();
  const uint32_t most_texts = texts.batch != 0 ? texts.batch : kTextsPerPass;
  TokenChunk chunk;
  for (size_t begin = 0; begin < texts.count; begin = chunk.end()) {
    chunk.read(model, input, begin);
    const std::vector<TokenChunk::Text>& order = chunk.order();
    const std::vector<PassRange> passes = chunk.passes(most_texts, model.threads());
    model.team().run(
        passes.size(),
        [&](WorkSlot& slot, size_t number) {
          const PassRange range = passes[number];
          slot.batch.clear();
          for (size_t i = range.begin; i < range.end; ++i) chunk.add_to(slot.batch, order[i]);
          embert_engine* engine = slot.engine(
              {order[range.begin].length, static_cast<uint32_t>(range.end - range.begin)});
          const Rows<T> rows = pass(slot, engine);
          for (size_t i = range.begin; i < range.end; ++i) {
            sink(TextRow<T>{chunk.list_index(order[i]), order[i].length,
                            rows.values + (i - range.begin) * rows.width, rows.scale,
                            order[i].truncated});
          }
          progress.add(range.end - range.begin);
        },
        progress);
    const size_t with_tokens = passes.empty() ? 0 : passes.back().end;
    for (size_t i = with_tokens; i < order.size(); ++i) {
      sink(TextRow<T>{chunk.list_index(order[i]), 0, nullptr, {}, false});
    }
    progress.add(order.size() - with_tokens);
  }
  progress.finish();
}

}  // namespace

void embed_texts(HostedModel& model, const embert_hosted_texts& texts, const EmbedPass& pass,
                 Progress& progress, const VectorSink& sink) {
  const size_t width = model.file().info().vector_size;
  const auto embed = [&](WorkSlot& slot, embert_engine* engine) {
    embert_scale scale = {};
    const embert_input input = slot.batch.input();
    slot.vectors.resize(input.batch * width);
    check_pass(model.file(),
               embert_embed(engine, &input, pass.pooling, slot.vectors.data(), &scale));
    return Rows<int16_t>{width, slot.vectors.data(), scale};
  };
  run_texts<int16_t>(model, {texts, pass.prompt}, progress, embed, sink);
}

void classify_texts(HostedModel& model, const embert_hosted_texts& texts, Progress& progress,
                    const LogitSink& sink) {
  const size_t width = model.file().info().num_labels;
  const auto classify = [&](WorkSlot& slot, embert_engine* engine) {
    embert_scale scale = {};
    const embert_input input = slot.batch.input();
    slot.logits.resize(input.batch * width);
    check_pass(model.file(), embert_classify(engine, &input, slot.logits.data(), &scale));
    return Rows<int32_t>{width, slot.logits.data(), scale};
  };
  run_texts<int32_t>(model, {texts, {}}, progress, classify, sink);
}

LogitRows classify_all(HostedModel& model, const embert_hosted_texts& texts) {
  LogitRows rows = {model.file().info().num_labels, {}, {}, {}};
  rows.values.resize(texts.count * rows.width);
  rows.truncated.resize(texts.count);
  std::atomic<uint32_t> scale = 0;
  Progress no_progress(nullptr, nullptr, 0);
  classify_texts(model, texts, no_progress, [&](const TextRow<int32_t>& row) {
    if (row.tokens == 0) return;
    std::copy_n(row.values, rows.width, rows.values.data() + row.text * rows.width);
    rows.truncated[row.text] = row.truncated;
    scale.store(row.scale.float_bits, std::memory_order_relaxed);
  });
  rows.scale.float_bits = scale;
  return rows;
}

}  // namespace embert::hosted
