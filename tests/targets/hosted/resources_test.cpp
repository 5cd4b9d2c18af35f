// SPDX-License-Identifier: Apache-2.0
// Memory does not grow with calls, and threads without work use no processor.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "embert/embert_host.h"
#include "tests/targets/hosted/hosted_fixture.hpp"

namespace embert::test {
namespace {

size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  size_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

double processor_seconds() {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

TEST(Resources, MemoryStaysAfterTheFirstCalls) {
  const ScratchFolder scratch;
  const ModelHandle model = open_model(write_model(scratch, "m.emb", classifier(3)), 2);
  const Texts list(random_texts(5000, 7));
  embert_hosted_texts view = list.view();
  std::vector<int8_t> vectors(view.count * 36);
  const embert_hosted_vector_options options = vectors_as(EMBERT_VECTOR_INT8);
  const auto call = [&] {
    ASSERT_EQ(embert_hosted_embed(model.get(), &view, &options, vectors.data(), vectors.size()),
              EMBERT_HOSTED_OK);
  };
  for (int i = 0; i < 2; ++i) call();
  const size_t before = resident_bytes();
  for (int i = 0; i < 20; ++i) {
    view.batch = i % 2 == 0 ? 1000 : 0;
    call();
  }
  EXPECT_LE(resident_bytes(), before + (size_t{1} << 20));
}

bool maps_contain(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with(path)) return true;
  }
  return false;
}

// Truncated while it was mapped, the file would end this process with SIGBUS.
TEST(Resources, TheFileMayChangeUnlessItIsMapped) {
  const ScratchFolder scratch;
  const std::string path = write_model(scratch, "m.emb", classifier(3));
  const Texts list({"a", "b"});
  const embert_hosted_vector_options int8 = vectors_as(EMBERT_VECTOR_INT8);

  embert_hosted* shared = nullptr;
  const embert_hosted_options options = {.size = sizeof(options), .map = 1};
  ASSERT_EQ(embert_hosted_open(path.c_str(), &options, &shared), EMBERT_HOSTED_OK);
  EXPECT_TRUE(maps_contain(path));
  const std::vector<uint8_t> expected = embed(shared, list.view(), int8);
  embert_hosted_close(shared);

  const ModelHandle model = open_model(path);
  EXPECT_FALSE(maps_contain(path));
  ASSERT_EQ(truncate(path.c_str(), 64), 0);
  EXPECT_EQ(embed(model.get(), list.view(), int8), expected);
}

// pthreadpool's own way is to spin for some milliseconds behind each call.
TEST(Resources, IdleThreadsOfAPoolUseNoProcessor) {
  embert_thread_pool* pool = embert_thread_pool_create(2);
  ASSERT_NE(pool, nullptr);
  const bool has_threads = embert_thread_pool_threads(pool) > 1;
  const auto steps_with_pauses = [](void* of_pool) {
    for (int i = 0; i < 30; ++i) {
      embert_thread_pool_parallel_for(
          of_pool, [](void*, size_t) {}, nullptr, 2);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  const double before = processor_seconds();
  steps_with_pauses(pool);
  const double between = processor_seconds();
  embert_thread_pool_run(pool, steps_with_pauses, pool);
  const double after = processor_seconds();
  embert_thread_pool_destroy(pool);
  if (!has_threads) GTEST_SKIP() << "this process may run on one processor only";
  EXPECT_LT(between - before, 0.03);
  EXPECT_LT(after - between, 0.03);
}

TEST(Resources, IdleThreadsUseNoProcessor) {
  const ScratchFolder scratch;
  const ModelHandle model = open_model(write_model(scratch, "m.emb", classifier(3)), 2);
  const Texts list(random_texts(200, 8));
  embed(model.get(), list.view(), vectors_as(EMBERT_VECTOR_INT8));
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(processor_seconds() - before, 0.03);
}

}  // namespace
}  // namespace embert::test
