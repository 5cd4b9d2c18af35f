// SPDX-License-Identifier: Apache-2.0
// embert generate: a decoder continues a text, or an encoder-decoder pair transforms it.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <memory>
#include <random>

#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/model/model_session.hpp"
#include "targets/cli/tasks/decoding_options.hpp"
#include "targets/cli/tasks/text_call.hpp"
#include "targets/hosted/model/model_tasks.hpp"

namespace embert::cli {
namespace {

constexpr const char* kFinishNames[] = {"end", "length", "cache_full"};

struct GenerateOptions {
  TextCall call;
  bool ids = false;
  DecodingOptions decoding;
};

/// Parses token ids with blanks between them.
std::vector<int32_t> read_ids(const Record& record) {
  const std::string& text = record.texts[0];
  std::vector<int32_t> ids;
  const char *at = text.data(), *end = at + text.size();
  for (;;) {
    while (at < end && *at == ' ') ++at;
    if (at == end) return ids;
    int32_t id = 0;
    const auto [stop, error] = std::from_chars(at, end, id);
    if (error != std::errc() || (stop < end && *stop != ' ')) {
      record.refuse("--ids: \"" + std::string(at, std::find(at, end, ' ')) + "\" is no token id");
    }
    ids.push_back(id);
    at = stop;
  }
}

/// Returns the decoder's prompt: the special tokens before the text, and the text. An empty text
/// leaves the first special token.
std::vector<int32_t> prompt_ids(const ModelFile& file, const Record& record) {
  TextTokens tokens = tokenize_text(*file.model(), {record.texts[0], {}}, 0);
  size_t size = tokens.ids.size();
  while (size > 1 && tokens.sequence_ids[size - 1] < 0) --size;
  tokens.ids.resize(size);
  return tokens.ids;
}

/// Turns a status that the text has caused into a message about the text.
void check_text_status(embert_status status, const Record& record, size_t tokens, uint32_t room) {
  const std::string name = std::string(" (") + embert_status_name(status) + ")";
  if (status == EMBERT_STATUS_TOO_MANY_TOKENS) {
    record.refuse("the text has " + std::to_string(tokens) + " tokens, the model has room for " +
                  std::to_string(room) + name);
  }
  if (status == EMBERT_STATUS_TOKEN_OUT_OF_RANGE) {
    record.refuse("a token id is not in the model's vocabulary" + name);
  }
  if (status == EMBERT_STATUS_EMPTY_INPUT) {
    record.refuse(
        "nothing to start with: no prompt, and the model has no start token "
        "(decoder_start_token_id or bos_token_id of config.json)" +
        name);
  }
  check(status, "a pass through the model");
}

/// Runs the encoder on the text, for the decoder's cross-attention.
void encode_source(const GenerateOptions& options, const ModelFile& file,
                   const ModelSession& session, const Record& record) {
  const uint32_t room = session.options().max_source_tokens;
  Batch batch;
  if (options.ids) {
    batch.ids = read_ids(record);
    batch.lengths = {static_cast<uint32_t>(batch.ids.size())};
  } else {
    const TextTokens tokens = tokenize_text(*file.model(), {record.texts[0], {}}, room);
    batch.add(tokens.ids, tokens.type_ids);
  }
  if (batch.ids.empty()) {
    record.refuse("the text has no token (" +
                  std::string(embert_status_name(EMBERT_STATUS_EMPTY_INPUT)) + ")");
  }
  const embert_input input = batch.input();
  check_text_status(embert_encode_source(session.engine(), &input, nullptr), record,
                    batch.ids.size(), room);
}

/// Returns whether the tokenizer can show the decoder's tokens. An encoder-decoder pair may have
/// two vocabularies; the tokenizer belongs to the encoder's.
bool can_detokenize(const ModelFile& file) {
  embert_stack_info first = {.size = sizeof(first)};
  check(embert_model_get_stack(file.model(), 0, &first), "embert_model_get_stack");
  return file.info().has_tokenizer != 0 && first.vocab_size == file.info().vocab_size;
}

void generate(const GenerateOptions& options, const ModelFile& file, const ModelSession& session,
              const Record& record) {
  std::mt19937 random(options.decoding.seed);
  const embert_generate_options decoding = options.decoding.for_model(*file.model(), random);
  std::vector<int32_t> prompt;  // empty: begin with the start token
  if (file.info().num_stacks == 2) {
    encode_source(options, file, session, record);
  } else {
    prompt = options.ids ? read_ids(record) : prompt_ids(file, record);
  }
  size_t bytes = 0;
  check(embert_generate_bytes(&decoding, &bytes), "embert_generate_bytes");
  std::vector<uint64_t> workspace(bytes / sizeof(uint64_t) + 1);
  std::vector<int32_t> ids(options.decoding.max_new_tokens);
  embert_generation generated = {.size = sizeof(generated)};
  generated.prompt = prompt.data();
  generated.prompt_length = prompt.size();
  generated.workspace = workspace.data();
  generated.workspace_bytes = bytes;
  generated.ids = ids.data();
  generated.capacity = ids.size();
  check_text_status(embert_generate(session.engine(), &decoding, &generated), record, prompt.size(),
                    session.options().max_tokens);
  ids.resize(generated.count);

  const Json text = can_detokenize(file) ? Json(text_of(*file.model(), ids, true)) : Json();
  if (options.call.json) {
    output().json({{"text", record.texts[0]},
                   {"generated", text},
                   {"ids", ids},
                   {"log_probability", std::ldexp(generated.log2_score, -26) * std::log(2.0)},
                   {"finish", kFinishNames[generated.finish]}});
  } else if (!options.ids && !text.is_null()) {
    output().line(one_line(text.get<std::string>()));
  } else {
    std::string line;
    for (const int32_t id : ids) line += (line.empty() ? "" : " ") + std::to_string(id);
    output().line(line);
  }
}

void run_generate(const GenerateOptions& options) {
  const ModelFile file(options.call.model, isa_mask_of(options.call.run.isa));
  if (!options.ids) file.require_tokenizer();
  require_task(file, Task::kGenerate);
  RecordSource source(options.call.input, kTextForm);
  const ModelSession session(file, options.call.run.threads, 0, options.decoding.beams);
  for (auto records = source.next(1); !records.empty(); records = source.next(1)) {
    generate(options, file, session, records[0]);
  }
}

}  // namespace

void add_generate_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("generate", "Generate text with a decoder");
  auto options = std::make_shared<GenerateOptions>();
  add_text_call(*command, options->call, kTextForm,
                "text, generated, ids, log_probability, finish");
  command->add_flag("--ids", options->ids, "Read and write texts as token ids with blanks between");
  options->decoding.add_to(*command);
  command->footer(
      "The best token each time, unless --sample or --beams asks for more. A pair of encoder and\n"
      "decoder reads the text with the encoder. Without --json a line is what was generated;\n"
      "finish says what ended it: the end token, the length, or a cache that is full.\n"
      "Example:\n"
      "  embert generate decoder.emb \"once upon a time\" --max-new-tokens 40\n"
      "  embert generate decoder.emb --sample --temperature 0.8 --top-p 0.9 --seed 7 < "
      "prompts.txt");
  command->callback([options] { run_generate(*options); });
}

}  // namespace embert::cli
