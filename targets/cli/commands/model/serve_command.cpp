// SPDX-License-Identifier: Apache-2.0
// embert serve: models behind HTTP, with the interface of OpenAI's embeddings.
#include <CLI/CLI.hpp>
#include <limits>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/serve/serve_models.hpp"

namespace embert::cli {
namespace {

/// Adds an option for a number of bytes, such as 8388608 or 8MB.
void add_bytes_option(CLI::App& command, const std::string& name, size_t& bytes,
                      const std::string& description) {
  command.add_option(name, bytes, description)
      ->transform(CLI::AsSizeValue(false).description(""))
      ->check(CLI::Range(size_t{1024}, std::numeric_limits<size_t>::max() / 16)
                  .description("at least 1024, such as 8MB"))
      ->type_name("BYTES")
      ->capture_default_str();
}

void add_limit_options(CLI::App& command, ServeArguments& arguments) {
  serve::Limits& limits = arguments.limits;
  command
      .add_option("--max-tokens", arguments.max_tokens,
                  "Longest text, longer ones are cut; default: the model's")
      ->check(CLI::Range(1, 512))
      ->type_name("N");
  command.add_option("--max-texts", limits.texts, "Most texts of a request")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  add_bytes_option(command, "--max-body", limits.body_bytes, "Largest body of a request");
  add_bytes_option(command, "--max-memory", limits.memory_bytes,
                   "Memory of all large requests together, beside that of the models");
  command
      .add_option("--max-queue", limits.queue, "Most requests that wait for a model or run in it")
      ->check(CLI::Range(1, 4096))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--connections", limits.connections,
                  "Most clients at the same time; each has a thread")
      ->check(CLI::Range(1, 4096))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--timeout", arguments.timeout,
                  "Longest time for a whole request to arrive, and for a client to take its answer")
      ->check(CLI::Range(1, 3600))
      ->type_name("SECONDS")
      ->capture_default_str();
}

}  // namespace

void add_serve_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("serve", "Answer HTTP requests, such as those of OpenAI's clients");
  auto arguments = std::make_shared<ServeArguments>();
  command
      ->add_option("MODEL", arguments->models,
                   "Model files; NAME=FILE gives a model another name than that of its file")
      ->required()
      ->type_name("");
  command->add_option("--port", arguments->port, "TCP port; 0: a free one")
      ->check(CLI::Range(0, 65535))
      ->type_name("PORT")
      ->capture_default_str();
  command
      ->add_option("--bind", arguments->bind,
                   "The address to listen on, all: every interface; default: this machine alone "
                   "(loopback). There is no encryption: put a proxy with TLS in front")
      ->type_name("ADDRESS");
  command
      ->add_option("--api-key-file", arguments->key_file,
                   "Clients must send the first line of this file as bearer key; default: the "
                   "environment variable EMBERT_API_KEY, and without it no key")
      ->type_name("FILE");
  arguments->run.add_to(*command);
  add_limit_options(*command, *arguments);
  command->footer(
      "POST /v1/embeddings, /v1/classify, /v1/rerank, /tokenize; GET /v1/models, /health,\n"
      "/metrics. A request over a limit is refused: 413 or 429; for its head 414, 431 or 408; for\n"
      "its JSON 400. SIGTERM and SIGINT end the server once what has arrived is answered; a\n"
      "second one ends it at once.\n"
      "Example:\n"
      "  embert serve minilm.emb intents=intent.emb --port 8080\n"
      "  curl http://127.0.0.1:8080/v1/embeddings -H \"Content-Type: application/json\" \\\n"
      "      -d '{\"model\": \"minilm\", \"input\": \"a cat on a mat\"}'");
  command->callback([arguments] { serve_models(*arguments); });
}

}  // namespace embert::cli
