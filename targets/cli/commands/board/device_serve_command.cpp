// SPDX-License-Identifier: Apache-2.0
// embert device serve: answers the device protocol on a board with an operating system.
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/device/listener.hpp"
#include "targets/cli/device/local_runner.hpp"
#include "targets/cli/io/messages.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/model/run_options.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/device/device_session.hpp"

namespace embert::cli {
namespace {

constexpr size_t kMaxTextBytes = 1 << 16;

struct ServeOptions {
  std::string model, isa = "auto", bind;
  uint32_t max_tokens = 0;
  uint16_t port = 0;
  uint32_t timeout_ms = 30000;
};

using Clock = std::chrono::steady_clock;

struct Link {
  int in, out;                                          ///< file descriptors
  std::optional<std::chrono::milliseconds> patience{};  ///< longest time from answer to answer
  int error = 0;                                        ///< errno of the first call that failed
  size_t answers = 0;
  Clock::time_point since = Clock::now();  ///< when it opened or had its last answer

  /// Waits for an event of poll(); false and an error if the time of the other side is used up.
  bool wait(int file, short event);
};

bool Link::wait(int file, short event) {
  for (;;) {
    int timeout = -1;
    if (patience) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(since + *patience - Clock::now());
      if (left.count() <= 0) {  // although poll() may find bytes: a client can flood
        error = ETIMEDOUT;
        return false;
      }
      timeout = static_cast<int>(left.count());
    }
    pollfd wanted = {file, event, 0};
    const int ready = poll(&wanted, 1, timeout);
    if (ready > 0) return true;
    if (ready == 0 || errno == EINTR) continue;
    error = errno;
    return false;
  }
}

/// DeviceSession does not use exceptions, so the link keeps the error until the loop looks.
void write_to_link(void* context, const uint8_t* bytes, size_t count) {
  Link& link = *static_cast<Link*>(context);
  while (count > 0 && link.error == 0) {
    const ssize_t written = write(link.out, bytes, count);
    if (written >= 0) {
      bytes += written;
      count -= static_cast<size_t>(written);
    } else if (errno == EAGAIN) {
      link.wait(link.out, POLLOUT);
    } else if (errno != EINTR) {
      link.error = errno;
    }
  }
}

uint64_t monotonic_nanoseconds(void*) {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                               std::chrono::nanoseconds(1));
}

/// Answers requests until the other side closes the link or the link has an error. A request that
/// does not arrive whole within the link's patience is an error, too. Refusals do not prolong it.
void serve_link(Link& link, LocalRunner& local, const std::string& name) {
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
  while (link.wait(link.in, POLLIN)) {
    const ssize_t count = read(link.in, bytes, sizeof(bytes));
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) link.error = errno;
    if (count <= 0) return;
    for (ssize_t i = 0; i < count && link.error == 0; ++i) {
      if (!session.take(bytes[i])) continue;
      ++link.answers;
      link.since = Clock::now();
    }
    if (link.error != 0) return;
  }
}

/// Serves one client after another, for ever. What a client does wrong is a line on stderr.
[[noreturn]] void serve_clients(const ServeOptions& options, LocalRunner& local,
                                const std::string& name) {
  Listener listener(options.bind, options.port);
  note("listens on " + listener.names());
  for (;;) {
    const Client client = listener.next();
    Link link = {client.file, client.file, std::chrono::milliseconds(options.timeout_ms)};
    serve_link(link, local, name);
    close(client.file);
    if (link.error == ETIMEDOUT) {
      note(client.name + ": no whole request, or no room for a reply, within " +
           std::to_string(options.timeout_ms) + " ms (--timeout)");
    } else if (link.error != 0) {
      note(client.name + ": " + std::strerror(link.error));
    } else if (link.answers == 0) {
      note(client.name + ": left without an answer");
    }
  }
}

void run_device_serve(const ServeOptions& options) {
  const ModelFile file(options.model, isa_mask_of(options.isa));
  LocalRunner local(file, options.max_tokens != 0 ? options.max_tokens : file.info().max_tokens);
  if (local.runner().selftest() == EMBERT_STATUS_SELFTEST_FAILED) {
    throw InternalError("the self-test of " + file.path() +
                        " gives other bits here than where it was made: a broken machine or build");
  }
  const std::string name =
      std::string("embert ") + embert_version() + ", " + embert_isa_name(file.info().isa_mask);
  if (options.port != 0) serve_clients(options, local, name);
  Link link = {STDIN_FILENO, STDOUT_FILENO};
  serve_link(link, local, name);
  if (link.error == EPIPE) throw OutputClosed();
  if (link.error != 0) throw InternalError(std::string("the line: ") + std::strerror(link.error));
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
  auto* listen =
      command
          ->add_option("--listen", options->port,
                       "Serve clients of this TCP port, one after another, until the end of the "
                       "program; default: stdin and stdout")
          ->check(CLI::Range(1, 65535))
          ->type_name("PORT");
  command
      ->add_option("--bind", options->bind,
                   "The address to listen on, all: every interface; default: this machine alone "
                   "(loopback). There is no password: whoever reaches the port may ask")
      ->needs(listen)
      ->type_name("ADDRESS");
  command
      ->add_option("--timeout", options->timeout_ms,
                   "Longest time that a client may take for a request, in ms")
      ->needs(listen)
      ->check(CLI::Range(1, 3600000))
      ->type_name("MS")
      ->capture_default_str();
  command->footer(
      "Example, on the board and on the desktop:\n"
      "  embert device serve intent.emb --listen 7070 --bind all\n"
      "  embert device validate intent.emb --on tcp:board:7070 --texts sentences.txt");
  command->callback([options] { run_device_serve(*options); });
}

}  // namespace embert::cli
