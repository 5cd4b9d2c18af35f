// SPDX-License-Identifier: Apache-2.0
// Threads of the server and of the hosted library when memory is short: what is refused leaves
// nothing behind, and the process goes on.
#include <gtest/gtest.h>

#include "targets/hosted/hosted_model.hpp"
#include "targets/hosted/texts/token_chunk.hpp"
#include "targets/serve/http/connection_pool.hpp"
#include "targets/serve/models/batch_queue.hpp"
#include "tests/support/task_models.hpp"
#include "tests/targets/serve/failing_new.hpp"

namespace embert::test {
namespace {

using namespace serve;

TEST(NoMemory, ThreadsOfConnectionsEnd) {
  const int failed = fail_each_allocation(Threads::kThis, [] {
    const ConnectionPool pool(4, [](ConnectionPool::Connection&, ClientSocket&) {});
  });
  EXPECT_GT(failed, 4);
}

TEST(NoMemory, ThreadsOfAModelEnd) {
  const ScratchFolder scratch;
  const hosted::ModelFile file(write_model(scratch, "m.emb", classifier(3)), EMBERT_ISA_SCALAR);
  const int failed =
      fail_each_allocation(Threads::kThis, [&] { const hosted::ThreadTeam team(file, 4, 16); });
  EXPECT_GT(failed, 4);
}

void fail_in_queue(Threads threads) {
  const ScratchFolder scratch;
  HostedModel model(write_model(scratch, "m.emb", classifier(3)), {.threads = 2});
  ModelMetrics metrics;
  BatchQueue queue(model, 2, metrics);
  TokenLists texts;
  for (int i = 0; i < 300; ++i) {  // of several turns
    texts.ids.insert(texts.ids.end(), 32, 5);
    texts.end_text();
  }
  const BatchRows expected = queue.run(BatchKind::kLogits, texts);
  const int failed = fail_each_allocation(threads, [&] {
    EXPECT_EQ(queue.waiting(), 0u);
    EXPECT_EQ(queue.run(BatchKind::kLogits, texts).logits, expected.logits);
  });
  EXPECT_GT(failed, 0);
  EXPECT_EQ(queue.waiting(), 0u);
}

TEST(NoMemory, AClientLosesItsRequestAlone) { fail_in_queue(Threads::kThis); }
TEST(NoMemory, TheQueueLosesNoRequest) { fail_in_queue(Threads::kOthers); }

}  // namespace
}  // namespace embert::test
