// SPDX-License-Identifier: Apache-2.0
// The functions that the WebAssembly module exports: a model, an engine and its buffers in memory
// that JavaScript gives. An instance has one model; another model takes another instance.
#include "embert/embert_tokenizer.h"
#include "targets/device/text_runner.hpp"
#include "targets/web/module/web_model.hpp"

namespace embert::web {

WebModel web;

namespace {

device::TextRunner runner;

// The results of the last call.
struct Results {
  Tokens tokens;               ///< [max_tokens]
  int32_t* logits;             ///< [num_labels]
  embert_label_score* labels;  ///< [num_labels]
  int16_t* vector;             ///< [vector_size]
  uint32_t label_count, checksum;
  embert_scale scale;  ///< of vector or logits
  const char* token;
  size_t token_bytes;
} results;

embert_options options_of(uint32_t tokens) {
  embert_options options = embert_options_default(&web.model);
  options.max_tokens = tokens;
  return options;
}

/// Lays out arena and results, and returns the arena. Sets results if the cursor has memory.
uint8_t* plan(Cursor& cursor, uint32_t tokens, size_t arena_bytes) {
  uint8_t* const arena = cursor.take<uint8_t>(arena_bytes);
  Results out = {};
  out.tokens = cursor.take_tokens(tokens);
  out.logits = cursor.take<int32_t>(web.info.num_labels);
  out.labels = cursor.take<embert_label_score>(web.info.num_labels);
  out.vector = cursor.take<int16_t>(web.info.vector_size);
  if (cursor.base != nullptr) results = out;
  return arena;
}

}  // namespace

EMBERT_EXPORT(open) uint32_t open_model(const void* blob, size_t bytes) {
  const embert_status status = embert_model_open(blob, bytes, embert_isa_detect(), &web.model);
  if (status != EMBERT_STATUS_OK) return status;
  web.info = {.size = sizeof(web.info)};
  return embert_model_get_info(&web.model, &web.info);
}

/// Bytes that start() needs for texts of up to `tokens` tokens; 0: start() says why not.
EMBERT_EXPORT(room) size_t room(uint32_t tokens) {
  const embert_options options = options_of(tokens);
  size_t arena_bytes = 0;
  if (embert_arena_bytes(&web.model, &options, &arena_bytes) != EMBERT_STATUS_OK) return 0;
  Cursor cursor = {nullptr, 0};
  plan(cursor, tokens, arena_bytes);
  return cursor.room();
}

/// `memory` has room(tokens) bytes and is 64-byte aligned.
EMBERT_EXPORT(start) uint32_t start(uint32_t tokens, uint8_t* memory) {
  const embert_options options = options_of(tokens);
  size_t arena_bytes = 0;
  const embert_status status = embert_arena_bytes(&web.model, &options, &arena_bytes);
  if (status != EMBERT_STATUS_OK) return status;
  Cursor cursor = {memory, 0};
  uint8_t* const arena = plan(cursor, tokens, arena_bytes);
  web.max_tokens = tokens;
  const embert_status opened = runner.open(web.model, tokens, arena, arena_bytes,
                                           {.ids = results.tokens.ids,
                                            .type_ids = results.tokens.type_ids,
                                            .logits = results.logits,
                                            .embedding = results.vector});
  web.engine = runner.engine();
  return opened;
}

EMBERT_EXPORT(embed) uint32_t embed(const char* text, size_t bytes) {
  const embert_text input = text_of(text, bytes, nullptr, 0);
  return embert_embed_text(web.engine, &input, results.vector, &results.scale);
}

/// All labels, best first. pair null: there is none.
EMBERT_EXPORT(classify)
uint32_t classify(const char* text, size_t bytes, const char* pair, size_t pair_bytes) {
  const embert_text input = text_of(text, bytes, pair, pair_bytes);
  embert_labels labels = {.items = results.labels, .capacity = web.info.num_labels};
  const embert_status status = embert_classify_text(web.engine, &input, &labels);
  results.label_count = static_cast<uint32_t>(labels.count);
  results.scale = labels.scale;
  return status;
}

/// The tokens that the model reads: cut to its length.
EMBERT_EXPORT(tokenize)
uint32_t tokenize(const char* text, size_t bytes, const char* pair, size_t pair_bytes) {
  const embert_text input = text_of(text, bytes, pair, pair_bytes);
  embert_tokenize_options options = embert_tokenize_options_default(&web.model);
  options.max_tokens = static_cast<int32_t>(web.max_tokens);
  embert_tokens tokens = {.size = sizeof(tokens)};
  tokens.capacity = web.max_tokens;
  tokens.ids = results.tokens.ids;
  tokens.type_ids = results.tokens.type_ids;
  tokens.word_ids = results.tokens.word_ids;
  tokens.sequence_ids = results.tokens.sequence_ids;
  tokens.byte_offsets = results.tokens.byte_offsets;
  tokens.char_offsets = results.tokens.char_offsets;
  const embert_status status = embert_tokenize(&web.model, &input, &options, &tokens);
  results.tokens.length = static_cast<uint32_t>(tokens.length);
  return status;
}

/// The checksum of the text's output bits: outputs_crc of targets/device/protocol.hpp.
EMBERT_EXPORT(checksum) uint32_t checksum(const char* text, size_t bytes) {
  const device::RunReply reply = runner.run(text, bytes);
  results.checksum = reply.outputs_crc;
  return reply.status;
}

EMBERT_EXPORT(find_token) uint32_t find_token(uint32_t id) {
  return embert_token(&web.model, id, &results.token, &results.token_bytes);
}

// Results.
EMBERT_EXPORT(vector) const int16_t* vector() { return results.vector; }
EMBERT_EXPORT(scale) float scale() { return embert_scale_to_float(results.scale); }
EMBERT_EXPORT(labels) const embert_label_score* labels() { return results.labels; }
EMBERT_EXPORT(label_count) uint32_t label_count() { return results.label_count; }
EMBERT_EXPORT(tokens) uint32_t tokens() { return results.tokens.length; }
EMBERT_EXPORT(ids) const int32_t* ids() { return results.tokens.ids; }
EMBERT_EXPORT(type_ids) const int32_t* type_ids() { return results.tokens.type_ids; }
EMBERT_EXPORT(word_ids) const int32_t* word_ids() { return results.tokens.word_ids; }
EMBERT_EXPORT(sequence_ids) const int32_t* sequence_ids() { return results.tokens.sequence_ids; }
EMBERT_EXPORT(char_offsets) const uint32_t* char_offsets() { return results.tokens.char_offsets; }
EMBERT_EXPORT(checksum_value) uint32_t checksum_value() { return results.checksum; }
EMBERT_EXPORT(token) const char* token() { return results.token; }
EMBERT_EXPORT(token_bytes) size_t token_bytes() { return results.token_bytes; }

// Facts of the model. Names are zero-terminated UTF-8.
EMBERT_EXPORT(max_tokens) uint32_t default_max_tokens() { return web.info.max_tokens; }
EMBERT_EXPORT(max_positions) uint32_t max_positions() { return web.info.max_positions; }
EMBERT_EXPORT(vector_size) uint32_t vector_size() { return web.info.vector_size; }
EMBERT_EXPORT(num_labels) uint32_t num_labels() { return web.info.num_labels; }
EMBERT_EXPORT(label_name) const char* label_name(uint32_t label) {
  return embert_model_label(&web.model, label);
}
EMBERT_EXPORT(type_vocab_size) uint32_t type_vocab_size() { return web.info.type_vocab_size; }
EMBERT_EXPORT(model_checksum) uint32_t model_checksum() { return web.info.checksum; }
EMBERT_EXPORT(num_prompts) uint32_t num_prompts() { return web.info.num_prompts; }
EMBERT_EXPORT(default_prompt) uint32_t default_prompt() { return web.info.default_prompt; }
EMBERT_EXPORT(prompt_name) const char* prompt_name(uint32_t prompt) {
  return embert_model_prompt_name(&web.model, prompt);
}
EMBERT_EXPORT(prompt_text) const char* prompt_text(uint32_t prompt) {
  return embert_model_prompt_text(&web.model, prompt);
}
EMBERT_EXPORT(isa) const char* isa() { return embert_isa_name(web.info.isa_mask); }
EMBERT_EXPORT(status_name) const char* status_name(uint32_t status) {
  return embert_status_name(static_cast<embert_status>(status));
}
EMBERT_EXPORT(version) const char* version() { return embert_version(); }

}  // namespace embert::web
