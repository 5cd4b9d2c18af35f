// SPDX-License-Identifier: Apache-2.0
// embert device validate: runs texts on a device and on this machine, which must give the same
// bits. Reports accuracy, memory and time.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/device/device_client.hpp"
#include "targets/cli/device/local_runner.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/io/text_file.hpp"
#include "targets/cli/model/run_options.hpp"
#include "targets/cli/tool_error.hpp"

namespace embert::cli {
namespace {

using device::HelloReply;
using device::RunReply;
using device::TickUnit;

struct ValidateOptions {
  std::string model, address;
  std::string texts, labelled;  ///< paths; one of them is empty
  bool json = false;
  uint32_t timeout_ms = 10000;
  unsigned tries = 10;

  bool has_labels() const { return !labelled.empty(); }
  const std::string& path() const { return has_labels() ? labelled : texts; }
};

/// The texts of the call.
struct ValidateTexts {
  std::vector<std::string> lines;
  std::vector<int32_t> labels;  ///< [lines], or empty
};

ValidateTexts read_texts(const ValidateOptions& options, const ModelFile& file) {
  if (!options.has_labels()) return {read_text_lines(options.texts), {}};
  ValidateTexts texts;
  const std::vector<LabelledText> labelled = read_labelled(options.labelled, LabelledForm::kText);
  texts.labels = label_indices(file, options.labelled, labelled);
  for (const LabelledText& entry : labelled) texts.lines.push_back(entry.text);
  return texts;
}

struct FoundDevice {
  HelloReply hello;
  std::string name;
};

/// Waits for the device, since boards and emulators take a while to start, and checks its model.
FoundDevice say_hello(DeviceClient& client, const ModelFile& file) {
  const DeviceReply reply = client.ask(device::kHello, {}, device::kHelloReplyBytes);
  FoundDevice found = {device::get_hello(reply.payload.data()),
                       {reply.payload.begin() + device::kHelloReplyBytes, reply.payload.end()}};
  if (found.hello.model_checksum != file.info().checksum) {
    char text[80];
    std::snprintf(text, sizeof(text), "checksum %08x, the device runs one of %08x",
                  file.info().checksum, found.hello.model_checksum);
    throw InputError(quoted_path(file.path()) + ": " + text +
                     ": name the model that the device has, or bring it this one");
  }
  if (found.hello.max_tokens == 0 || found.hello.max_tokens > file.info().max_positions) {
    throw InputError("the device says that it takes " + std::to_string(found.hello.max_tokens) +
                     " tokens, of a model of " + std::to_string(file.info().max_positions));
  }
  return found;
}

struct ValidateTotals {
  size_t texts = 0, same = 0, failed = 0, right_device = 0, right_here = 0;
  uint64_t tokens = 0, ticks = 0;
  double seconds = 0;
  uint32_t stack_bytes = 0, arena_bytes = 0;
  std::optional<size_t> first_different;
  std::string first_failed;  ///< line and status of the first text that failed
};

bool same_bits(const RunReply& a, const RunReply& b) {
  return a.status == b.status && a.tokens == b.tokens && a.ids_crc == b.ids_crc &&
         a.outputs_crc == b.outputs_crc && a.label == b.label;
}

ValidateTotals run_texts(DeviceClient& client, const ValidateTexts& texts, LocalRunner& local) {
  ValidateTotals totals;
  for (const std::string& text : texts.lines) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
    const DeviceReply reply =
        client.ask(device::kRun, {bytes, text.size()}, device::kRunReplyBytes);
    const RunReply there = device::get_run(reply.payload.data());
    const RunReply here = local.runner().run(text.data(), text.size());
    const bool same = same_bits(there, here);
    if (!same && !totals.first_different) totals.first_different = totals.texts;
    ++totals.texts;
    totals.same += same;
    if (there.status != EMBERT_STATUS_OK && totals.failed++ == 0) {
      totals.first_failed = "line " + std::to_string(totals.texts) + ": " +
                            embert_status_name(static_cast<embert_status>(there.status));
    }
    if (!texts.labels.empty()) {
      const int32_t right = texts.labels[totals.texts - 1];
      totals.right_device += there.label == right;
      totals.right_here += here.label == right;
    }
    totals.tokens += there.tokens;
    totals.ticks += there.ticks;
    totals.seconds += reply.seconds;
    totals.stack_bytes = std::max(totals.stack_bytes, there.stack_bytes);
    totals.arena_bytes = std::max(totals.arena_bytes, there.arena_bytes);
  }
  return totals;
}

const char* tick_unit_name(TickUnit unit) {
  switch (unit) {
    case TickUnit::kCycles:
      return "cycles";
    case TickUnit::kInstructions:
      return "instructions";
    case TickUnit::kNanoseconds:
      return "nanoseconds";
    case TickUnit::kNone:
      break;
  }
  return "ticks";
}

Json figures_of(const FoundDevice& found, const ValidateTotals& totals, const LinkErrors& errors,
                bool labelled) {
  const auto count = static_cast<double>(totals.texts);
  Json json = {{"device", found.name},
               {"texts", totals.texts},
               {"tokens", totals.tokens},
               {"same_bits", totals.same},
               {"failed", totals.failed}};
  if (labelled) {
    json["accuracy_device"] = static_cast<double>(totals.right_device) / count;
    json["accuracy_here"] = static_cast<double>(totals.right_here) / count;
  }
  json["unit"] = tick_unit_name(found.hello.tick_unit);
  json["compute_per_text"] = static_cast<double>(totals.ticks) / count;
  json["seconds"] = totals.seconds;
  if (found.hello.ticks_per_second != 0) {
    const double compute = static_cast<double>(totals.ticks) / found.hello.ticks_per_second;
    json["compute_seconds"] = compute;
    json["transfer_seconds"] = std::max(0.0, totals.seconds - compute);
  }
  json["arena_bytes"] = found.hello.arena_bytes;
  json["arena_high_water"] = totals.arena_bytes;
  json["stack_high_water"] = totals.stack_bytes != 0 ? Json(totals.stack_bytes) : Json();
  json["asked_again"] = errors.asked_again;
  json["damaged_frames"] = errors.damaged_replies + errors.damaged_requests;
  json["stray_frames"] = errors.stray_replies;
  return json;
}

void write_figures(const Json& json) {
  for (const auto& [key, value] : json.items()) {
    std::string name = key;
    name.resize(18, ' ');
    const bool real = value.is_number_float();
    output().line(name + (real                ? fixed(value.get<double>(), 4)
                          : value.is_string() ? one_line(value.get<std::string>())
                                              : value.dump()));
  }
}

void run_device_validate(const ValidateOptions& options) {
  const ModelFile file(options.model, embert_isa_detect());
  file.require_tokenizer();
  if (options.texts.empty() == options.labelled.empty()) {
    throw UsageError("give the texts to run: --texts FILE or --labelled FILE");
  }
  if (options.has_labels() && file.info().num_labels == 0) {
    throw UsageError("--labelled: " + quoted_path(file.path()) + " is no classifier");
  }
  const ValidateTexts texts = read_texts(options, file);
  const std::chrono::milliseconds timeout(options.timeout_ms);
  Connection connection(options.address, std::chrono::steady_clock::now() + timeout);
  DeviceClient client(connection, timeout, options.tries);
  const FoundDevice found = say_hello(client, file);
  for (size_t i = 0; i < texts.lines.size(); ++i) {
    if (texts.lines[i].size() <= found.hello.max_text_bytes) continue;
    throw InputError(line_of(options.path(), i) + ": " + std::to_string(texts.lines[i].size()) +
                     " bytes, the device takes " + std::to_string(found.hello.max_text_bytes));
  }
  LocalRunner local(file, found.hello.max_tokens);
  const ValidateTotals totals = run_texts(client, texts, local);
  const Json result = figures_of(found, totals, client.errors(), options.has_labels());
  options.json ? output().json(result) : write_figures(result);
  output().finish();  // a verdict that fails keeps the results, also those of --output
  if (totals.same != totals.texts) {
    throw InternalError("the device gives other bits for " +
                        std::to_string(totals.texts - totals.same) + " of " +
                        std::to_string(totals.texts) + " texts, the first in line " +
                        std::to_string(*totals.first_different + 1));
  }
  if (totals.failed > 0) {
    throw InputError(quoted_path(options.path()) + ": " + std::to_string(totals.failed) + " of " +
                     std::to_string(totals.texts) +
                     " texts have no answer, neither there nor here, the first in " +
                     totals.first_failed);
  }
}

}  // namespace

void add_device_validate_command(CLI::App& device) {
  CLI::App* command =
      device.add_subcommand("validate", "Compare a device's answers with this machine's");
  auto options = std::make_shared<ValidateOptions>();
  add_model_argument(*command, options->model);
  command
      ->add_option("--on", options->address,
                   "exec:COMMAND, tcp:HOST:PORT or serial:PATH[:BAUD]; BAUD is 115200 if not given")
      ->required()
      ->type_name("ADDRESS");
  auto* plain =
      command->add_option("--texts", options->texts, "A text a line; -: stdin")->type_name("FILE");
  command
      ->add_option("--labelled", options->labelled,
                   "Lines of a text, a tab and its label; -: stdin. Shows the accuracy, too")
      ->excludes(plain)
      ->type_name("FILE");
  command->add_option("--timeout", options->timeout_ms, "Longest wait for an answer, in ms")
      ->check(CLI::Range(1, 3600000))
      ->type_name("MS")
      ->capture_default_str();
  command->add_option("--tries", options->tries, "How often a request is sent at most")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--json", options->json, "One JSON object");
  add_output_option(*command);
  command->footer(
      "Ends with 3 where a text has other bits there than here.\n"
      "Example:\n"
      "  embert device validate intent.emb --on serial:/dev/ttyACM0 --labelled test.tsv\n"
      "  embert device validate minilm.emb --on \"exec:ssh board ./embert device serve "
      "minilm.emb\" \\\n"
      "    --texts sentences.txt");
  command->callback([options] { run_device_validate(*options); });
}

}  // namespace embert::cli
