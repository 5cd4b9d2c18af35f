// SPDX-License-Identifier: Apache-2.0
// The subcommands: each function adds one to the command line; its callback runs it.
#pragma once

namespace CLI {
class App;
}

namespace embert::cli {

// In the order of --help.
void add_convert_command(CLI::App& app);
void add_inspect_command(CLI::App& app);
void add_tokenize_command(CLI::App& app);
void add_embed_command(CLI::App& app);
void add_similarity_command(CLI::App& app);
void add_classify_command(CLI::App& app);
void add_rerank_command(CLI::App& app);
void add_next_sentence_command(CLI::App& app);
void add_choose_command(CLI::App& app);
void add_tag_command(CLI::App& app);
void add_answer_command(CLI::App& app);
void add_fill_mask_command(CLI::App& app);
void add_generate_command(CLI::App& app);
void add_verify_command(CLI::App& app);
void add_threshold_command(CLI::App& app);
void add_checksum_command(CLI::App& app);
void add_bench_command(CLI::App& app);
void add_serve_command(CLI::App& app);
void add_fit_command(CLI::App& app);
void add_device_command(CLI::App& app);
void add_completion_command(CLI::App& app);
void add_help_command(CLI::App& app);

// Subcommands of `embert device`.
void add_device_validate_command(CLI::App& device);
void add_device_serve_command(CLI::App& device);

}  // namespace embert::cli
