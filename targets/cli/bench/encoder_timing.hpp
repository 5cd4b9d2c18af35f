// SPDX-License-Identifier: Apache-2.0
// Times the encoder alone, on random ids. Any ids do: the time depends on them only through the
// exponentials that softmax skips.
#pragma once

#include <cstdint>

#include "targets/cli/bench/bench_engine.hpp"
#include "targets/cli/bench/bench_table.hpp"
#include "targets/hosted/threads/work_slot.hpp"

namespace embert::cli {

/// Returns the multiply-adds of one text: the dense layers and the two products of attention.
double encoder_macs(const embert_model_info& info, double tokens);

hosted::Batch random_text(const embert_model_info& info, uint32_t tokens);

double seconds_of_run(const BenchEngine& bench, const embert_input& input);

struct EncoderRun {
  uint32_t tokens, threads;
  uint32_t repeats = 0;  ///< 0: so many as take `seconds`, at least 5
  double seconds = 1;
  double peak_macs_per_second;  ///< of one core; 0: unknown
};

BenchResult time_encoder(const hosted::ModelFile& file, const EncoderRun& run);

}  // namespace embert::cli
