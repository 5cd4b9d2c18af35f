// SPDX-License-Identifier: Apache-2.0
// The `embert` tool: runs a subcommand and turns its exceptions into exit codes.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <thread>

#include "converter/files/temporary_file.hpp"
#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/messages.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/cli/usage/command_line.hpp"
#include "targets/cli/usage/version.hpp"

namespace embert::cli {
namespace {

/// Opens /dev/null for each standard file that the caller closed, so that no file opened later
/// takes its number. A closed stdin still cannot be read, nor a closed stdout be written to.
void reserve_standard_files() {
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_RDWR};
  for (int file = 0; file <= 2; ++file) {
    if (fcntl(file, F_GETFD) == -1) (void)!open("/dev/null", kModes[file]);
  }
}

/// Writes the results so far, before the message of a failure. That they cannot be written is
/// ignored: the failure came first.
void flush_before_message() {
  try {
    output().flush();
  } catch (...) {
  }
}

/// Writes the message after the results so far and returns the code.
int report(ExitCode code, const char* message) {
  flush_before_message();
  complain(message);
  return code;
}

const std::thread::id main_thread = std::this_thread::get_id();

/// Called where operator new finds no memory: writes the results so far, if it can, and a message,
/// and ends the tool. An exception would not do: streams swallow it, functions of nlohmann's JSON
/// and CLI11 that are noexcept allocate, and nlohmann's ordered_map is broken by one.
[[noreturn]] void end_without_memory() {
  static std::atomic<std::thread::id> ends_in;
  const std::thread::id thread = std::this_thread::get_id();
  std::thread::id before;
  const bool is_first = ends_in.compare_exchange_strong(before, thread);
  if (!is_first && before != thread) {
    for (;;) pause();  // another thread ends the tool
  }
  // The results are the main thread's. In a second lack of memory they are given up.
  if (is_first && thread == main_thread) flush_before_message();
  std::fputs("embert: not enough memory\n", stderr);
  convert::TemporaryFile::remove_all();
  _exit(kExitInternal);
}

/// Parses and runs the call. --help and --version are written to stdout as results are.
void run_command_line(CLI::App& app, int argc, char** argv) {
  try {
    parse_command_line(app, argc, argv);
  } catch (const CLI::Success& help) {
    std::ostringstream text;
    app.exit(help, text);
    output().discard();  // of an --output beside --help
    output().text(text.str());
  }
  output().finish();
}

int run(int argc, char** argv) {
  CLI::App app(
      "BERT in int8 with integer arithmetic: text in, vectors, labels, answers or text out.",
      "embert");
  app.set_version_flag("--version", version_text(), "Show the version, the build and its kernels");
  app.require_subcommand(1);
  app.footer(
      "Example:\n"
      "  embert convert tiny-intent -o intent.emb\n"
      "  embert classify intent.emb \"book me a flight to Paris\"\n"
      "`embert help COMMAND` explains a command.\n"
      "Exit codes: 0 fine, 1 usage, 2 bad input file, 3 internal.");
#if EMBERT_HAS_CONVERTER
  add_convert_command(app);
#endif
  add_inspect_command(app);
  add_tokenize_command(app);
  add_embed_command(app);
  add_similarity_command(app);
  add_classify_command(app);
  add_rerank_command(app);
  add_next_sentence_command(app);
  add_choose_command(app);
  add_tag_command(app);
  add_answer_command(app);
  add_fill_mask_command(app);
  add_generate_command(app);
#if EMBERT_HAS_CONVERTER
  add_verify_command(app);
#endif
  add_threshold_command(app);
  add_checksum_command(app);
  add_bench_command(app);
#if EMBERT_HAS_SERVE
  add_serve_command(app);
#endif
  add_fit_command(app);
  add_device_command(app);
  add_completion_command(app);
  add_help_command(app);
  add_common_options(app);

  try {
    run_command_line(app, argc, argv);
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    complain(error.what());
    complain("`" + used_command(app) + " --help` has the options");
    return kExitUsage;
  } catch (const OutputClosed&) {
    return kExitOk;
  } catch (const Error& error) {
    return report(exit_code_of(error), error.what());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return report(kExitInternal, error.what());
  }
}

}  // namespace
}  // namespace embert::cli

int main(int argc, char** argv) {
  // A closed pipe, and a file beyond its size limit, then show as failed writes instead of killing
  // the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  embert::cli::reserve_standard_files();
  std::set_new_handler(embert::cli::end_without_memory);
  try {
    return embert::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    embert::cli::end_without_memory();
  }
}
