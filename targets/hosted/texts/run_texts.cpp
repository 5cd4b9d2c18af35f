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

/// Runs the texts of a chunk. pass(slot, engine) runs slot.batch. Texts without tokens get a null
/// row.
template <typename T, typename Pass, typename Sink>
void run_chunk(HostedModel& model, const TokenChunk& chunk, Progress& progress, const Pass& pass,
               const Sink& sink) {
  const std::vector<TokenChunk::Text>& order = chunk.order();
  const std::vector<PassRange> passes = chunk.passes(model.threads());
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
    sink(TextRow<T>{chunk.list_index(order[i]), 0, nullptr, {}, order[i].truncated});
  }
  progress.add(order.size() - with_tokens);
}

/// Runs all texts, chunk by chunk.
template <typename T, typename Pass, typename Sink>
void run_texts(HostedModel& model, const PromptedTexts& input, Progress& progress, const Pass& pass,
               const Sink& sink) {
  model.file().require_tokenizer();
  TokenChunk chunk;
  for (size_t begin = 0; begin < input.texts.count; begin = chunk.end()) {
    chunk.read(model, input, begin);
    run_chunk<T>(model, chunk, progress, pass, sink);
  }
  progress.finish();
}

template <typename T, typename Pass, typename Sink>
void run_tokens(HostedModel& model, const TokenLists& texts, const Pass& pass, const Sink& sink) {
  TokenChunk chunk;
  chunk.set(texts);
  Progress no_progress(nullptr, nullptr, 0);
  run_chunk<T>(model, chunk, no_progress, pass, sink);
}

/// The pass that makes vectors.
auto embed_pass(const ModelFile& file, embert_pooling pooling) {
  return [&file, pooling](WorkSlot& slot, embert_engine* engine) {
    const size_t width = file.info().vector_size;
    embert_scale scale = {};
    const embert_input input = slot.batch.input();
    slot.vectors.resize(input.batch * width);
    check_pass(file, embert_embed(engine, &input, pooling, slot.vectors.data(), &scale));
    return Rows<int16_t>{width, slot.vectors.data(), scale};
  };
}

/// The pass that makes logits of a classifier.
auto classify_pass(const ModelFile& file) {
  return [&file](WorkSlot& slot, embert_engine* engine) {
    const size_t width = file.info().num_labels;
    embert_scale scale = {};
    const embert_input input = slot.batch.input();
    slot.logits.resize(input.batch * width);
    check_pass(file, embert_classify(engine, &input, slot.logits.data(), &scale));
    return Rows<int32_t>{width, slot.logits.data(), scale};
  };
}

}  // namespace

void embed_texts(HostedModel& model, const embert_hosted_texts& texts, const EmbedPass& pass,
                 Progress& progress, const VectorSink& sink) {
  run_texts<int16_t>(model, {texts, pass.prompt, pass.long_texts}, progress,
                     embed_pass(model.file(), pass.pooling), sink);
}

void classify_texts(HostedModel& model, const embert_hosted_texts& texts, Progress& progress,
                    const LogitSink& sink, LongTexts long_texts) {
  run_texts<int32_t>(model, {texts, {}, long_texts}, progress, classify_pass(model.file()), sink);
}

void embed_tokens(HostedModel& model, const TokenLists& texts, embert_pooling pooling,
                  const VectorSink& sink) {
  run_tokens<int16_t>(model, texts, embed_pass(model.file(), pooling), sink);
}

void classify_tokens(HostedModel& model, const TokenLists& texts, const LogitSink& sink) {
  run_tokens<int32_t>(model, texts, classify_pass(model.file()), sink);
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
