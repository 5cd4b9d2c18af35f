// SPDX-License-Identifier: Apache-2.0
// Each text gets the bits that the runtime gives it alone, whatever the threads, the callers, the
// batch and the texts beside it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "embert/embert.h"
#include "embert/embert_inspect.h"
#include "tests/targets/hosted/hosted_fixture.hpp"

namespace embert::test {
namespace {

/// An engine of the runtime for one text.
class AloneEngine {
 public:
  explicit AloneEngine(const embert_model* model) : model_(model) {
    const embert_options options = embert_options_default(model);
    size_t bytes = 0;
    EXPECT_EQ(embert_arena_bytes(model, &options, &bytes), EMBERT_STATUS_OK);
    arena_ = AlignedBytes(bytes);
    EXPECT_EQ(embert_engine_init(model, &options, arena_.data(), bytes, &engine_),
              EMBERT_STATUS_OK);
  }

  std::vector<int16_t> embed(const std::string& text) const {
    std::vector<int16_t> vector(embert_hidden_size(model_));
    const embert_text input = {text.data(), text.size(), nullptr, 0};
    EXPECT_EQ(embert_embed_text(engine_, &input, vector.data(), nullptr), EMBERT_STATUS_OK);
    return vector;
  }

  /// Scores by label.
  std::vector<float> classify(const std::string& text, const std::string& pair) const {
    const embert_text input = {text.data(), text.size(), pair.data(), pair.size()};
    std::vector<embert_label_score> items(embert_num_labels(model_));
    embert_labels labels = {items.data(), items.size(), 0, {}};
    EXPECT_EQ(embert_classify_text(engine_, &input, &labels), EMBERT_STATUS_OK);
    std::vector<float> scores(items.size());
    for (const embert_label_score& item : items) {
      scores[item.label] = static_cast<float>(item.score / double{EMBERT_Q30_ONE});
    }
    return scores;
  }

 private:
  const embert_model* model_;
  AlignedBytes arena_;
  embert_engine* engine_ = nullptr;
};

template <typename T>
std::vector<uint8_t> bytes_of(const std::vector<std::vector<T>>& rows) {
  std::vector<uint8_t> bytes;
  for (const std::vector<T>& row : rows) {
    const auto* data = reinterpret_cast<const uint8_t*>(row.data());
    bytes.insert(bytes.end(), data, data + row.size() * sizeof(T));
  }
  return bytes;
}

TEST(SameBits, VectorsForAnyThreadsCallersAndBatch) {
  const ScratchFolder scratch;
  const std::string path = write_model(scratch, "m.emb", classifier(3));
  const std::vector<std::string> texts = random_texts(3000, 1);
  std::vector<uint8_t> expected;
  {
    const ModelHandle model = open_model(path);
    const AloneEngine alone(embert_hosted_model(model.get()));
    std::vector<std::vector<int16_t>> rows;
    for (const std::string& text : texts) rows.push_back(alone.embed(text));
    expected = bytes_of(rows);
  }
  const Texts list(texts);
  struct Case {
    size_t callers;
    uint32_t batch;
  };
  for (const uint32_t threads : {1u, 2u}) {
    const ModelHandle model = open_model(path, threads);
    for (const Case& one : {Case{1, 0}, {8, 0}, {2, 1}, {2, 32}, {2, 1000}}) {
      std::vector<std::vector<uint8_t>> results(one.callers);
      std::vector<std::thread> running;
      for (std::vector<uint8_t>& result : results) {
        running.emplace_back([&] {
          embert_hosted_texts view = list.view();
          view.batch = one.batch;
          result = embed(model.get(), view, vectors_as(EMBERT_VECTOR_INT16));
        });
      }
      for (std::thread& thread : running) thread.join();
      for (const std::vector<uint8_t>& result : results) {
        EXPECT_TRUE(result == expected)
            << threads << " threads, " << one.callers << " callers, batch " << one.batch;
      }
    }
  }
}

TEST(SameBits, ScoresOfPairs) {
  const ScratchFolder scratch;
  const std::string path = write_model(scratch, "m.emb", classifier(3));
  const std::vector<std::string> texts = random_texts(300, 2), pairs = random_texts(300, 3);
  const Texts list(texts, pairs);
  const ModelHandle model = open_model(path, 2);
  const AloneEngine alone(embert_hosted_model(model.get()));
  std::vector<std::vector<float>> rows;
  for (size_t i = 0; i < texts.size(); ++i) rows.push_back(alone.classify(texts[i], pairs[i]));
  std::vector<float> scores(texts.size() * 3);
  const embert_hosted_texts view = list.view();
  ASSERT_EQ(embert_hosted_score(model.get(), &view, nullptr, scores.data()), EMBERT_HOSTED_OK)
      << embert_hosted_error();
  EXPECT_EQ(bytes_of<float>({scores}), bytes_of(rows));
}

}  // namespace
}  // namespace embert::test
