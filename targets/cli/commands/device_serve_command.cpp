// SPDX-License-Identifier: Apache-2.0
// embert device serve: answers the device protocol on a board with an operating system.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/device/connection.hpp"
#include "targets/cli/device/local_runner.hpp"
#include "targets/cli/model/run_options.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/device/device_session.hpp"

namespace embert::cli {
namespace {

constexpr size_t kMaxTextBytes = 1 << 16;

struct ServeOptions {
  std::string model, isa = "auto";
  uint32_t max_tokens = 0;
  uint16_t port = 0;
};

struct Link {
  int in, out;    ///< file descriptors
  int error = 0;  ///< errno of the first write that failed
};

/// DeviceSession does not use exceptions, so the link keeps the error until the loop looks.
void write_to_link(void* context, const uint8_t* bytes, size_t count) {
  Link& link = *static_cast<Link*>(context);
  while (count > 0 && link.error == 0) {
    const ssize_t written = write(link.out, bytes, count);
    if (written < 0) {
      link.error = errno == EINTR ? 0 : errno;
    } else {
      bytes += written;
      count -= static_cast<size_t>(written);
    }
  }
}

uint64_t monotonic_nanoseconds(void*) {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                               std::chrono::nanoseconds(1));
}

void run_device_serve(const ServeOptions& options) {
  const ModelFile file(options.model, isa_mask_of(options.isa));
  LocalRunner local(file, options.max_tokens != 0 ? options.max_tokens : file.info().max_tokens);
  if (local.runner().selftest() == EMBERT_STATUS_SELFTEST_FAILED) {
    throw InternalError("the self-test of " + file.path() +
                        " gives other bits here than where it was made: a broken machine or build");
  }
  Link link = {STDIN_FILENO, STDOUT_FILENO};
  if (options.port != 0) link.in = link.out = accept_one(options.port);

  const std::string name =
      std::string("embert ") + embert_version() + ", " + embert_isa_name(file.info().isa_mask);
  const device::Port port = {.context = &link,
                             .write = write_to_link,
                             .ticks = monotonic_nanoseconds,
                             .stack_bytes = nullptr,
                             .tick_unit = device::TickUnit::kNanoseconds,
                             .ticks_per_second = 1000000000,
                             .name = name.c_str()};
  std::vector<uint8_t> frame(device::DeviceSession::frame_buffer_bytes(kMaxTextBytes));
  device::DeviceSession session(local.runner(), port, frame.data(), frame.size());
  uint8_t bytes[4096];
  for (;;) {
    const ssize_t count = read(link.in, bytes, sizeof(bytes));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw InternalError(std::string("the line: ") + std::strerror(errno));
    if (count == 0) return;
    for (ssize_t i = 0; i < count; ++i) session.take(bytes[i]);
    if (link.error == EPIPE) throw OutputClosed();
    if (link.error != 0) throw InternalError(std::string("the line: ") + std::strerror(link.error));
  }
}

}  // namespace

void add_device_serve_command(CLI::App& device) {
  CLI::App* command = device.add_subcommand("serve", "Answer the desktop as a board does");
  auto options = std::make_shared<ServeOptions>();
  add_model_argument(*command, options->model);
  add_isa_option(*command, options->isa);
  command->add_option("--tokens", options->max_tokens, "Longest text; default: the model's")
      ->check(CLI::Range(1, 512))
      ->type_name("N");
  command
      ->add_option("--listen", options->port,
                   "Wait for one connection to this TCP port; default: stdin and stdout")
      ->check(CLI::Range(1, 65535))
      ->type_name("PORT");
  command->footer(
      "Example, on the board and on the desktop:\n"
      "  embert device serve intent.emb --listen 7070\n"
      "  embert device validate intent.emb --on tcp:board:7070 --texts sentences.txt");
  command->callback([options] { run_device_serve(*options); });
}

}  // namespace embert::cli
