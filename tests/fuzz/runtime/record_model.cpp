// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/runtime/record_model.hpp"

#include <algorithm>
#include <cstring>

#include "embert/embert_inspect.h"
#include "embert/embert_tasks.h"
#include "embert/embert_tokenizer.h"
#include "tests/fuzz/runtime/record_engine.hpp"
#include "tests/fuzz/support/require.hpp"

namespace embert::fuzz {
namespace {

constexpr std::size_t kMostArena = std::size_t{16} << 20;
constexpr std::uint32_t kMostTokens = 6;

void add_string(const char* string, Record& record) {
  if (string != nullptr) record.add(string, std::strlen(string));
}

void record_strings(const embert_model& model, const embert_model_info& info, Record& record) {
  for (std::uint32_t i = 0; i <= info.num_prompts; ++i) {
    add_string(embert_model_prompt_name(&model, i), record);
    add_string(embert_model_prompt_text(&model, i), record);
  }
  for (std::uint32_t i = 0; i <= info.num_labels; ++i) {
    add_string(embert_model_label(&model, i), record);
  }
  for (std::uint32_t i = 0; i <= info.num_token_labels; ++i) {
    add_string(embert_model_token_label(&model, i), record);
  }
  record.add(info.certificate, info.certificate_bytes);
}

void record_parts(const embert_model& model, const embert_model_info& info, Record& record) {
  for (std::uint32_t stack = 0; stack <= info.num_stacks; ++stack) {
    embert_stack_info sizes = {.size = sizeof(sizes)};
    if (!record.ok(embert_model_get_stack(&model, stack, &sizes))) continue;
    record.add(&sizes, 1);
    for (std::uint32_t layer = 0; layer <= sizes.num_layers; ++layer) {
      const std::uint32_t heads = embert_model_layer_heads(&model, stack, layer);
      record.add(&heads, 1);
    }
  }
  for (std::uint32_t i = 0; i <= info.num_poolings; ++i) {
    const std::uint32_t pooling = embert_model_pooling(&model, i);
    record.add(&pooling, 1);
  }
  embert_section section = {.size = sizeof(section)};
  for (std::uint32_t i = 0; record.ok(embert_model_section(&model, i, &section)); ++i) {
    add_string(section.name, record);
    record.add(&section.offset, 1);
    record.add(&section.bytes, 1);
  }
}

/// The tokens of an empty text or pair without a limit: special tokens.
std::size_t special_tokens(const embert_model& model, bool is_pair) {
  embert_tokenize_options options = embert_tokenize_options_default(&model);
  options.max_tokens = 0;
  const embert_text text = {"", 0, is_pair ? "" : nullptr, 0};
  embert_tokens tokens = {.size = sizeof(tokens)};
  embert_tokenize(&model, &text, &options, &tokens);
  return tokens.length;
}

/// The tokens of a window, and the text that they give.
void record_tokens(const embert_model& model, const embert_text& text, std::uint32_t window,
                   Record& record) {
  embert_tokenize_options options = embert_tokenize_options_default(&model);
  options.window = window;
  options.max_tokens = std::min<std::int32_t>(options.max_tokens, kMostTokens);
  embert_tokens tokens = {.size = sizeof(tokens)};
  record.ok(embert_tokenize(&model, &text, &options, &tokens));
  const std::size_t length = tokens.length;
  record.add(&length, 1);
  record.add(&tokens.windows, 1);
  // As in Hugging Face, fewer than the special tokens are no limit, and of a text that is cut to
  // nothing the next window has all.
  require(window > 0 || length <= kMostTokens ||
              static_cast<std::size_t>(options.max_tokens) <
                  special_tokens(model, text.pair != nullptr),
          "the first window is as long as the options say");
  std::vector<std::int32_t> ids(length), type_ids(length), word_ids(length), sequence_ids(length);
  std::vector<std::uint32_t> byte_offsets(2 * length), char_offsets(2 * length);
  tokens.capacity = length;
  tokens.ids = ids.data();
  tokens.type_ids = type_ids.data();
  tokens.word_ids = word_ids.data();
  tokens.sequence_ids = sequence_ids.data();
  tokens.byte_offsets = byte_offsets.data();
  tokens.char_offsets = char_offsets.data();
  if (!record.ok(embert_tokenize(&model, &text, &options, &tokens))) return;
  for (const auto* values : {&ids, &type_ids, &word_ids, &sequence_ids}) record.add(*values);
  record.add(byte_offsets);
  record.add(char_offsets);
  for (const std::int32_t id : ids) {
    const char* string = nullptr;
    std::size_t bytes = 0;
    if (record.ok(embert_token(&model, static_cast<std::uint32_t>(id), &string, &bytes))) {
      record.add(string, bytes);
    }
  }
  std::vector<std::uint8_t> is_subword(length);
  if (record.ok(embert_mark_subwords(&model, ids.data(), char_offsets.data(), length,
                                     is_subword.data()))) {
    record.add(is_subword);
  }
  embert_text_buffer back = {};
  record.ok(embert_detokenize(&model, ids.data(), length, nullptr, &back));
  std::vector<char> characters(back.bytes);
  back = {characters.data(), characters.size(), 0};
  if (record.ok(embert_detokenize(&model, ids.data(), length, nullptr, &back))) {
    record.add(back.text, back.bytes);
  }
}

void record_tokenizer(const embert_model& model, Record& record) {
  embert_tokenizer_info info = {.size = sizeof(info)};
  if (!record.ok(embert_model_get_tokenizer(&model, &info))) return;
  record.add(&info, 1);
  for (const embert_text& text : {kTexts[0], kTexts[1]}) {
    for (std::uint32_t window = 0; window < 3; ++window) {
      record_tokens(model, text, window, record);
    }
  }
}

}  // namespace

Record record_model(const test::AlignedBytes& blob, std::uint32_t isa_mask) {
  Record record;
  embert_model model;
  if (!record.ok(embert_model_open(blob.data(), blob.size(), isa_mask, &model))) return record;
  embert_model_info info = {.size = sizeof(info)};
  record.ok(embert_model_get_info(&model, &info));
  record_strings(model, info, record);
  record_parts(model, info, record);
  record_tokenizer(model, record);
  embert_options options = embert_options_default(&model);
  options.max_tokens = std::min(options.max_tokens, kMostTokens);
  options.max_source_tokens = std::min(options.max_source_tokens, kMostTokens);
  options.max_batch = 2;
  std::size_t bytes = 0;
  if (!record.ok(embert_arena_bytes(&model, &options, &bytes)) || bytes > kMostArena) return record;
  test::AlignedBytes arena(bytes);
  std::memset(arena.data(), 0xA5, bytes);
  embert_engine* engine = nullptr;
  require(embert_engine_init(&model, &options, arena.data(), bytes, &engine) == EMBERT_STATUS_OK,
          "an arena of the size asked for");
  record_engine({model, info, options, engine}, record);
  return record;
}

}  // namespace embert::fuzz
