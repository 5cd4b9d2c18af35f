// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/bench/bench_engine.hpp"

#include <new>
#include <string>

#include "targets/cli/io/messages.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/tool_error.hpp"

namespace embert::cli {

static constexpr std::align_val_t kArenaAlignment{64};

void BenchEngine::ArenaDeleter::operator()(void* arena) const {
  ::operator delete(arena, kArenaAlignment);
}

BenchEngine::BenchEngine(const ModelFile& file, uint32_t threads, uint32_t max_tokens) {
  embert_options options = embert_options_default(file.model());
  options.max_tokens = max_tokens;
  if (threads != 1) {
    pool_.reset(embert_thread_pool_create(threads));
    if (pool_ == nullptr) throw InternalError("cannot make a thread pool");
    options.threads = embert_thread_pool_threads(pool_.get());
    if (options.threads < threads) {
      note("--threads " + std::to_string(threads) + ": this process may use " +
           std::to_string(options.threads));
    }
    options.parallel_for = embert_thread_pool_parallel_for;
    options.parallel_context = pool_.get();
  }
  threads_ = options.threads;
  size_t bytes = 0;
  check(embert_arena_bytes(file.model(), &options, &bytes), "embert_arena_bytes");
  arena_.reset(::operator new(bytes, kArenaAlignment));
  check(embert_engine_init(file.model(), &options, arena_.get(), bytes, &engine_),
        "embert_engine_init");
}

}  // namespace embert::cli
