// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/tasks/generate_task.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <random>

#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "targets/hosted/line_text.hpp"
#include "targets/hosted/model/model_tasks.hpp"
#include "targets/hosted/model/text_tokens.hpp"

namespace embert::hosted {
namespace {

constexpr const char* kFinishNames[] = {"end", "length", "cache_full"};

/// Parses token ids with blanks between them.
std::vector<int32_t> read_ids(std::string_view text) {
  std::vector<int32_t> ids;
  const char *at = text.data(), *end = at + text.size();
  for (;;) {
    while (at < end && *at == ' ') ++at;
    if (at == end) return ids;
    int32_t id = 0;
    const auto [stop, error] = std::from_chars(at, end, id);
    if (error != std::errc() || (stop < end && *stop != ' ')) {
      throw TextError(0,
                      "--ids: \"" + std::string(at, std::find(at, end, ' ')) + "\" is no token id");
    }
    ids.push_back(id);
    at = stop;
  }
}

/// Returns the decoder's prompt: the special tokens before the text, and the text. An empty text
/// leaves the first special token.
std::vector<int32_t> prompt_ids(const ModelFile& file, const TextItem& item) {
  TextTokens tokens = tokenize_text(*file.model(), item, 0);
  size_t size = tokens.ids.size();
  while (size > 1 && tokens.sequence_ids[size - 1] < 0) --size;
  tokens.ids.resize(size);
  return tokens.ids;
}

/// Turns a status that the text has caused into a message about the text.
void check_text_status(embert_status status, size_t tokens, uint32_t room) {
  const std::string name = std::string(" (") + embert_status_name(status) + ")";
  if (status == EMBERT_STATUS_TOO_MANY_TOKENS) {
    throw TextError(0, "the text has " + std::to_string(tokens) +
                           " tokens, the model has room for " + std::to_string(room) + name);
  }
  if (status == EMBERT_STATUS_TOKEN_OUT_OF_RANGE) {
    throw TextError(0, "a token id is not in the model's vocabulary" + name);
  }
  if (status == EMBERT_STATUS_EMPTY_INPUT) {
    throw TextError(0,
                    "nothing to start with: no prompt, and the model has no start token "
                    "(decoder_start_token_id or bos_token_id of config.json)" +
                        name);
  }
  check(status, "a pass through the model");
}

/// Returns whether the tokenizer can show the decoder's tokens. An encoder-decoder pair may have
/// two vocabularies; the tokenizer belongs to the encoder's.
bool can_detokenize(const ModelFile& file) {
  embert_stack_info first = {.size = sizeof(first)};
  check(embert_model_get_stack(file.model(), 0, &first), "embert_model_get_stack");
  return file.info().has_tokenizer != 0 && first.vocab_size == file.info().vocab_size;
}

/// The options and the model of a call.
struct Generate {
  const GenerateOptions& options;
  const ModelFile& file;
  PassShape shape;  ///< the longest text, and the beams
};

/// Runs the encoder on the text, for the decoder's cross-attention.
/// Returns whether the text was cut to the encoder's length.
bool encode_source(const Generate& call, WorkSlot& slot, const TextItem& item,
                   embert_engine* engine) {
  const uint32_t room = slot.options(call.shape).max_source_tokens;
  slot.batch.clear();
  bool truncated = false;
  if (call.options.ids) {
    slot.batch.add(read_ids(item.text), {});
  } else {
    const TextTokens tokens = tokenize_text(*call.file.model(), item, room);
    slot.batch.add(tokens.ids, tokens.type_ids);
    truncated = tokens.truncated;
  }
  const size_t size = slot.batch.ids.size();
  if (size == 0) {
    throw TextError(0, "the text has no token (" +
                           std::string(embert_status_name(EMBERT_STATUS_EMPTY_INPUT)) + ")");
  }
  const embert_input input = slot.batch.input();
  check_text_status(embert_encode_source(engine, &input, nullptr), size, room);
  return truncated;
}

struct Generated {
  std::vector<int32_t> ids;
  double log_probability;
  const char* finish;
  bool truncated;  ///< the source was cut to the encoder's length
};

Generated generate_ids(const Generate& call, WorkSlot& slot, const TextItem& item) {
  const embert_model& model = *call.file.model();
  std::mt19937 random(call.options.decoding.seed);
  const embert_generate_options decoding = call.options.decoding.for_model(model, random);
  std::vector<int32_t> prompt;  // empty: begin with the start token
  if (call.file.info().num_stacks != 2) {
    prompt = call.options.ids ? read_ids(item.text) : prompt_ids(call.file, item);
  }
  embert_engine* engine = slot.engine(call.shape);
  const bool truncated =
      call.file.info().num_stacks == 2 && encode_source(call, slot, item, engine);
  size_t bytes = 0;
  check(embert_generate_bytes(&decoding, &bytes), "embert_generate_bytes");
  std::vector<uint64_t> workspace(bytes / sizeof(uint64_t) + 1);
  std::vector<int32_t> ids(call.options.decoding.max_new_tokens);
  embert_generation generated = {.size = sizeof(generated)};
  generated.prompt = prompt.data();
  generated.prompt_length = prompt.size();
  generated.workspace = workspace.data();
  generated.workspace_bytes = bytes;
  generated.ids = ids.data();
  generated.capacity = ids.size();
  check_text_status(embert_generate(engine, &decoding, &generated), prompt.size(),
                    call.shape.max_tokens);
  ids.resize(generated.count);
  return {std::move(ids), std::ldexp(generated.log2_score, -26) * std::log(2.0),
          kFinishNames[generated.finish], truncated};
}

TaskLine generated_text(const Generate& call, const TextItem& item, const Generated& generated,
                        LineForm form) {
  const Json text =
      can_detokenize(call.file) ? Json(text_of(*call.file.model(), generated.ids, true)) : Json();
  if (form == LineForm::kJson) {
    Json result = {{"text", item.text},
                   {"generated", text},
                   {"ids", generated.ids},
                   {"log_probability", generated.log_probability},
                   {"finish", generated.finish}};
    if (generated.truncated) result[kTruncatedKey] = true;
    return {json_line(result), generated.truncated};
  }
  if (!call.options.ids && !text.is_null()) {
    return {one_line(text.get<std::string>()), generated.truncated};
  }
  std::string line;
  for (const int32_t id : generated.ids) line += (line.empty() ? "" : " ") + std::to_string(id);
  return {line, generated.truncated};
}

}  // namespace

TextTask prepare_generate(HostedModel& model, const GenerateOptions& options) {
  const ModelFile& file = model.file();
  if (!options.ids) file.require_tokenizer();
  require_task(file, Task::kGenerate);
  options.decoding.check();
  const PassShape shape = {model.max_tokens(), options.decoding.beams};
  return {[&model, &file, options, shape](const embert_hosted_texts& texts, LineForm form,
                                          Progress& progress) {
            return lines_one_by_one(model, texts.count, progress, [&](WorkSlot& slot, size_t i) {
              const Generate call = {options, file, shape};
              const TextItem item = text_at(texts, i);
              const Generated generated = generate_ids(call, slot, item);
              model.check_cut(generated.truncated);
              return generated_text(call, item, generated, form);
            });
          },
          kSingleTextsAtOnce};
}

}  // namespace embert::hosted
