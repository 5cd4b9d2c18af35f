// SPDX-License-Identifier: Apache-2.0
// embert bench: times the encoder alone, on random ids. Any ids do: the time depends on them only
// through the exponentials that softmax skips.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "embert/embert_inspect.h"
#include "targets/cli/bench/bench_engine.hpp"
#include "targets/cli/bench/bench_table.hpp"
#include "targets/cli/bench/encoder_timing.hpp"
#include "targets/cli/bench/length_plot.hpp"
#include "targets/cli/bench/length_times.hpp"
#include "targets/cli/bench/peak.hpp"
#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/messages.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/model/run_options.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/threads/work_slot.hpp"

namespace embert::cli {
namespace {

constexpr uint32_t kPlotRepeats = 10;

struct BenchOptions {
  std::string model;
  std::vector<uint32_t> tokens = {16, 128, 512};
  std::vector<uint32_t> threads = {1};
  std::string isa = "auto";
  uint32_t repeats = 0;  ///< 0: about a second
  bool json = false, markdown = false, csv = false, svg = false;

  BenchFormat format() const {
    return json       ? BenchFormat::kJson
           : markdown ? BenchFormat::kMarkdown
           : csv      ? BenchFormat::kCsv
                      : BenchFormat::kText;
  }
};

/// Returns the lengths of --tokens that the model can take; names the others on stderr.
std::vector<uint32_t> lengths_to_measure(const BenchOptions& options, uint32_t positions) {
  const std::string reason = "the model has " + std::to_string(positions) + " positions";
  std::vector<uint32_t> lengths, too_long;
  for (const uint32_t tokens : options.tokens) {
    (tokens <= positions ? lengths : too_long).push_back(tokens);
  }
  if (lengths.empty()) throw UsageError("--tokens: nothing is left to measure, " + reason);
  for (const uint32_t tokens : too_long) {
    note("--tokens " + std::to_string(tokens) + ": left out, " + reason);
  }
  return lengths;
}

void plot_lengths(const BenchOptions& options, const ModelFile& file) {
  const std::vector<uint32_t> lengths = lengths_to_measure(options, file.info().max_positions);
  const uint32_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::vector<double> macs;
  for (uint32_t tokens = 1; tokens <= longest; ++tokens) {
    macs.push_back(encoder_macs(file.info(), tokens));
  }
  std::vector<LengthCurve> curves;
  for (const uint32_t threads : options.threads) {
    const BenchEngine bench(file, threads, longest);
    const LengthTimes times = time_lengths(
        macs, options.repeats != 0 ? options.repeats : kPlotRepeats, [&](size_t tokens) {
          const Batch batch = random_text(file.info(), static_cast<uint32_t>(tokens));
          return seconds_of_run(bench, batch.input()) * 1e3;
        });
    curves.push_back(
        {std::to_string(bench.threads()) + (bench.threads() == 1 ? " thread" : " threads"),
         times.ms});
    if (times.step.tokens == 0) continue;
    note(curves.back().name + ": the largest step is that to " + std::to_string(times.step.tokens) +
         " tokens, " + fixed(times.step.percent, 1) + " % beyond the multiply-adds");
  }
  output().line(length_plot(
      options.model + ", " + embert_isa_name(file.info().isa_mask) + ": time of one text", curves));
  output().flush();
}

void run_bench(const BenchOptions& options) {
  const uint32_t isa_mask = isa_mask_of(options.isa);
  const ModelFile file(options.model, isa_mask);
  file.require_kernels();
  require_task(file, Task::kEmbed);
  if (options.svg) return plot_lengths(options, file);
  const std::vector<uint32_t> lengths = lengths_to_measure(options, file.info().max_positions);
  write_bench_header(options.format());
  for (const uint32_t threads : options.threads) {
    const double peak = measure_peak_macs_per_second(isa_mask);
    for (const uint32_t tokens : lengths) {
      write_bench_result(options.format(), time_encoder(file, {.tokens = tokens,
                                                               .threads = threads,
                                                               .repeats = options.repeats,
                                                               .peak_macs_per_second = peak}));
    }
  }
}

}  // namespace

void add_bench_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "Time the encoder on this machine");
  auto options = std::make_shared<BenchOptions>();
  add_model_argument(*command, options->model);
  add_value_list(*command, "--tokens", options->tokens, {1, 512}, "Lengths of the text");
  add_value_list(*command, "--threads", options->threads, {0, 64},
                 "Thread counts; 0: all processors that this process may use");
  add_isa_option(*command, options->isa);
  command
      ->add_option("--repeats", options->repeats,
                   "Runs to measure; default: about a second, with --svg 10 of each length")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N");
  auto* json = command->add_flag("--json", options->json, "JSON Lines, one a measurement");
  auto* markdown = command->add_flag("--markdown", options->markdown, "A Markdown table");
  auto* csv = command->add_flag("--csv", options->csv, "Comma-separated values");
  auto* svg = command->add_flag("--svg", options->svg,
                                "A plot of the least times of all lengths up to the longest");
  json->excludes(markdown)->excludes(csv)->excludes(svg);
  markdown->excludes(csv)->excludes(svg);
  csv->excludes(svg);
  add_output_option(*command);
  command->footer(
      "gmac_per_s counts the multiply-adds of dense layers and attention, at the median time.\n"
      "percent_of_peak compares with the multiply-add instruction alone, measured on the spot.\n"
      "Example:\n"
      "  embert bench minilm.emb --tokens 16,128,512 --threads 1,2 --markdown\n"
      "  embert bench minilm.emb --svg > lengths.svg");
  command->callback([options] { run_bench(*options); });
}

}  // namespace embert::cli
