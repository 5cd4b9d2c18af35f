// SPDX-License-Identifier: Apache-2.0
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include "targets/cli/device/listener.hpp"
#include "targets/cli/io/messages.hpp"
#include "targets/cli/serve/serve_models.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/serve/api/api.hpp"
#include "targets/serve/api/api_key.hpp"
#include "targets/serve/http/http_server.hpp"
#include "targets/serve/models/served_models.hpp"

namespace embert::cli {
namespace {

/// SIGTERM and SIGINT as a file that can be read once one of them has come. Threads that are made
/// later do not get them.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    file_ = signalfd(-1, &signals_, SFD_CLOEXEC);
    if (file_ < 0) throw InternalError(std::string("signalfd: ") + std::strerror(errno));
  }
  ~StopSignals() { close(file_); }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  int file() const { return file_; }
  /// From now on a signal ends the process at once.
  void end_process() {
    signalfd_siginfo first;
    (void)!read(file_, &first, sizeof first);
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  }

 private:
  sigset_t signals_;
  int file_;
};

}  // namespace

void serve_models(const ServeArguments& arguments) {
  const serve::ApiKey key(arguments.key_file);
  StopSignals stop;
  serve::Limits limits = arguments.limits;
  limits.timeout = std::chrono::seconds(arguments.timeout);
  const serve::ServedModels models(arguments.models,
                                   {.threads = arguments.run.threads,
                                    .max_tokens = arguments.max_tokens,
                                    .isa = arguments.run.isa},
                                   limits.queue);
  serve::MemoryBudget memory(limits.memory_bytes);
  serve::Api api(models, limits, key, note);
  serve::HttpServer server(limits, memory,
                           [&](int status) { api.metrics().count_request("refused", status, 0); });
  api.add_routes(server);
  // The tool's handler would end the server for one request that finds no memory.
  std::set_new_handler(nullptr);
  {
    Listener listener(arguments.bind, arguments.port);
    note("listens on " + listener.names() + (key.is_set() ? ", with a key" : ", without a key"));
    for (Client client = listener.next(stop.file()); client.file >= 0;
         client = listener.next(stop.file())) {
      server.take(client.file);
    }
  }
  note("answers what has arrived, then ends");
  stop.end_process();
  server.stop();
}

}  // namespace embert::cli
