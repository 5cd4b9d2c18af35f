// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/report/report_data.hpp"

#include <algorithm>
#include <set>

#include "converter/calibrate/tokens/builtin_texts.hpp"
#include "targets/cli/bench/encoder_timing.hpp"
#include "targets/cli/bench/peak.hpp"
#include "targets/cli/report/arena_trace.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/convert/verify_model.hpp"
#include "targets/hosted/model/inspection.hpp"

namespace embert::cli {
namespace {

constexpr double kBenchSeconds = 0.2;    // for each length
constexpr uint32_t kTracedTokens = 128;  // or the model's length, if that is shorter

Json areas_json(const std::vector<ArenaArea>& areas) {
  Json json = Json::array();
  for (const ArenaArea& area : areas) {
    json.push_back({{"name", area.name}, {"offset", area.offset}, {"bytes", area.bytes}});
  }
  return json;
}

Json trace_json(const ArenaTrace& trace) {
  Json steps = Json::array();
  for (const ArenaStep& step : trace.steps) {
    Json written = Json::array();
    for (const ByteRange& range : step.written) {
      written.push_back({{"offset", range.offset}, {"bytes", range.bytes}});
    }
    steps.push_back({{"step", step.name}, {"written", std::move(written)}});
  }
  return {{"tokens", trace.tokens},
          {"threads", kTraceThreads},
          {"bytes", trace.bytes},
          {"areas", areas_json(trace.areas)},
          {"scratch", areas_json(trace.scratch)},
          {"steps", std::move(steps)}};
}

Json bench_of(const ModelFile& file) {
  const embert_model_info& info = file.info();
  const double peak = measure_peak_macs_per_second(info.isa_mask);
  Json results = Json::array();
  for (const uint32_t tokens : std::set<uint32_t>{16, kTracedTokens, info.max_tokens}) {
    if (tokens > info.max_positions) continue;
    results.push_back(bench_json(time_encoder(
        file,
        {.tokens = tokens, .threads = 1, .seconds = kBenchSeconds, .peak_macs_per_second = peak})));
  }
  return results;
}

}  // namespace

void add_model_facts(const ModelFile& file, Json& data) {
  const embert_model_info& info = file.info();
  Json content = inspect_model(file);
  data["blob_bytes"] = content["blob_bytes"];
  data["arena_bytes"] = content["arena_bytes"];
  data["tensors"] = content["tensors"];
  if (!file.has_kernels()) return;
  const uint32_t tokens = std::min(info.max_tokens, kTracedTokens);
  if (const auto trace = trace_arena(*file.model(), tokens)) data["arena"] = trace_json(*trace);
  const bool reads_alone = info.num_stacks == 1 && info.cross_hidden_size == 0;
  if (reads_alone) data["bench"] = bench_of(file);
}

void add_held_out(const ModelFile& file, const convert::ConvertResult& result, Json& data) {
  if (!result.held_out) return;
  TextList texts;
  for (size_t i = 0; i < result.held_out->texts; ++i) {
    result.held_out_builtin ? texts.add(convert::builtin_certificate_texts()[i])
                            : texts.add("held-out text " + std::to_string(i + 1));
  }
  data["held_out"] = comparison_json(file, *result.held_out, texts.view());
}

}  // namespace embert::cli
