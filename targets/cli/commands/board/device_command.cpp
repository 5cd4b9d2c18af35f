// SPDX-License-Identifier: Apache-2.0
// embert device: checks a model on a board, or plays the board.
#include <CLI/CLI.hpp>

#include "targets/cli/commands/commands.hpp"

namespace embert::cli {

void add_device_command(CLI::App& app) {
  CLI::App* device = app.add_subcommand("device", "Check a model on a board, or act as a board");
  device->require_subcommand(1);
  add_device_validate_command(*device);
  add_device_serve_command(*device);
  device->footer(
      "Example:\n"
      "  embert device validate intent.emb --on serial:/dev/ttyACM0 --texts sentences.txt");
}

}  // namespace embert::cli
