// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/convert/convert_folder.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "converter/convert_error.hpp"
#include "converter/export/replace_file.hpp"
#include "embert/embert.h"
#include "targets/hosted/convert/convert_report.hpp"
#include "targets/hosted/convert/machine_info.hpp"
#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/threads/thread_team.hpp"

namespace embert::hosted {
namespace {

convert::Precision precision_of(const std::string& name) {
  for (const auto level :
       {convert::Precision::kFast, convert::Precision::kBalanced, convert::Precision::kHigh}) {
    if (name == convert::precision_name(level)) return level;
  }
  throw UsageError("precision \"" + one_line(name) + "\": there are fast, balanced and high");
}

convert::ConvertOptions converter_options(const ConvertArguments& arguments) {
  if (arguments.rounding != "gptq" && arguments.rounding != "nearest") {
    throw UsageError("rounding \"" + one_line(arguments.rounding) +
                     "\": there are gptq and nearest");
  }
  if (arguments.embeddings != "8bit" && arguments.embeddings != "4bit") {
    throw UsageError("embeddings \"" + one_line(arguments.embeddings) +
                     "\": there are 8bit and 4bit");
  }
  if (arguments.layout != "n16k4" && arguments.layout != "n8k16") {
    throw UsageError("layout \"" + one_line(arguments.layout) + "\": there are n16k4 and n8k16");
  }
  if (arguments.layout == "n8k16" && !kOpensN8K16) {
    throw UsageError(
        "layout \"n8k16\": not in builds for this processor; convert on x86-64 or arm64");
  }
  const uint32_t processors = allowed_processors();
  convert::ConvertOptions options;
  options.folder = arguments.paths.folder;
  if (arguments.paths.calibration) options.calibration_texts = *arguments.paths.calibration;
  if (arguments.paths.calibration_ids) options.calibration_ids = *arguments.paths.calibration_ids;
  options.rounding =
      arguments.rounding == "nearest" ? convert::Rounding::kNearest : convert::Rounding::kGptq;
  options.embeddings =
      arguments.embeddings == "4bit" ? convert::EmbeddingBits::k4 : convert::EmbeddingBits::k8;
  options.precision = precision_of(arguments.precision);
  if (arguments.layout == "n8k16") options.weight_order = RhsOrder::kN8K16;
  options.max_tokens = arguments.max_tokens;
  if (arguments.paths.keep_vocabulary) options.vocabulary.texts = *arguments.paths.keep_vocabulary;
  options.vocabulary.scripts = arguments.scripts;
  options.vocabulary.size = arguments.vocabulary_size;
  options.threads = static_cast<int>(
      arguments.threads == 0 ? processors : std::min(arguments.threads, processors));
  options.isa_mask = embert_isa_detect();
  return options;
}

}  // namespace

Conversion convert_folder(const ConvertArguments& arguments, const StageReport& report) {
  convert::ConvertOptions options = converter_options(arguments);
  check_cpuinfo();
  options.progress = report;
  const auto start = std::chrono::steady_clock::now();
  try {
    Conversion conversion = {convert::convert(options), 0};
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    conversion.seconds = elapsed.count();
    for (std::string& warning : quality_warnings(conversion.result)) {
      conversion.result.warnings.push_back(std::move(warning));
    }
    return conversion;
  } catch (const convert::ConvertError& error) {
    throw InputError(error.what());
  }
}

Json conversion_json(const ConvertArguments& arguments, const Conversion& conversion) {
  Json report = convert_report(conversion.result, arguments.rounding, conversion.seconds);
  report["layout"] = arguments.layout;
  return report;
}

void write_conversion(const ConvertPaths& paths, const Conversion& conversion,
                      const std::string& report) {
  std::vector<convert::OutputFile> files = {{paths.model, conversion.result.blob}};
  if (paths.report) {
    files.push_back(
        {*paths.report, {reinterpret_cast<const uint8_t*>(report.data()), report.size()}});
  }
  try {
    convert::replace_files(files);
  } catch (const convert::ConvertError& error) {
    throw WriteError(error.what());
  }
}

}  // namespace embert::hosted
