// SPDX-License-Identifier: Apache-2.0
// LongTexts::kLeftOut: a text that is read in windows later is in no pass before.
#include <gtest/gtest.h>

#include <mutex>

#include "targets/hosted/texts/run_texts.hpp"
#include "tests/targets/hosted/hosted_fixture.hpp"

namespace embert::hosted {
namespace {

/// A sink gets this of each text.
struct FoundRow {
  uint32_t tokens = 0;
  bool has_values = false, truncated = false;
  bool operator==(const FoundRow&) const = default;
};

TEST(LeftOutTexts, HaveARowButNoPass) {
  const test::ScratchFolder scratch;
  test::TaskModel shape = test::classifier(2);
  HostedModel model(test::write_model(scratch, "m.emb", shape), {.threads = 2});
  std::string long_text;
  for (int i = 0; i < 100; ++i) long_text += "hello ";
  const test::Texts texts({"hello world", long_text, "", "hello", long_text});
  std::vector<FoundRow> found(5);
  std::mutex mutex;
  const auto note = [&](const auto& row) {
    const std::lock_guard lock(mutex);
    found[row.text] = {row.tokens, row.values != nullptr, row.truncated};
  };
  const auto run = [&](LongTexts long_texts) {
    found.assign(5, {});
    Progress progress(nullptr, nullptr, 5);
    embed_texts(model, texts.view(), {EMBERT_POOLING_MODEL, "", long_texts}, progress, note);
    const std::vector<FoundRow> of_vectors = found;
    found.assign(5, {});
    Progress again(nullptr, nullptr, 5);
    classify_texts(model, texts.view(), again, note, long_texts);
    EXPECT_EQ(found, of_vectors);
    return of_vectors;
  };
  const std::vector<FoundRow> cut = run(LongTexts::kCut), left_out = run(LongTexts::kLeftOut);
  for (const size_t i : {size_t{0}, size_t{2}, size_t{3}}) EXPECT_EQ(left_out[i], cut[i]) << i;
  for (const size_t i : {size_t{1}, size_t{4}}) {
    EXPECT_EQ(cut[i], (FoundRow{model.max_tokens(), true, true})) << i;
    EXPECT_EQ(left_out[i], (FoundRow{0, false, true})) << i;
  }
}

}  // namespace
}  // namespace embert::hosted
