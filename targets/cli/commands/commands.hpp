// SPDX-License-Identifier: Apache-2.0
// The subcommands: each adds itself to the command line and runs from its callback.
#pragma once

namespace CLI {
class App;
}

namespace embert::cli {

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
void add_bench_command(CLI::App& app);
void add_device_command(CLI::App& app);

}  // namespace embert::cli
