/* SPDX-License-Identifier: Apache-2.0
 *
 * embert's language models: tokens for a mask, decoders with their KV cache, generated text.
 *
 * This header is for you if your model has a language model head or is a decoder.
 *
 * Filling a mask: run the text, then ask for the best tokens of the mask's row.
 *
 *   embert_output output = {.size = sizeof(output)};
 *   embert_run(engine, &input, &output);
 *   embert_candidates best = {.items = candidates, .capacity = 5};
 *   embert_lm_top(engine, row, &best, NULL, NULL);
 *
 * Generating: embert_generate does it all. If you want each token as it comes, masks, or a rule of
 * your own for the next token, write its loop yourself:
 *
 *   embert_cache_clear(engine);
 *   input.lengths = &length, input.batch = 1;
 *   input.ids = prompt, length = prompt_length;
 *   for (;;) {
 *     embert_run(engine, &input, &output);                   appends to the KV cache
 *     embert_lm_top(engine, length - 1, &best, NULL, &scale);
 *     embert_sample_candidate(&best, scale, &sample, random, &index);
 *     id = best.items[index].id;
 *     if (id == end_id) break;
 *     input.ids = &id, length = 1;
 *   }
 *
 * No call needs a buffer as large as the vocabulary: logits go by in blocks.
 */
#ifndef EMBERT_EMBERT_LM_H_
#define EMBERT_EMBERT_LM_H_

#include "embert/embert_run.h"
#include "embert/embert_tasks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Best tokens of a row -------------------------------------------------------------------- */

/* row counts the tokens of all texts of the last call; ROW_OUT_OF_RANGE where that call did not
 * compute it. NO_LM where the model has no language model head. log_sum and scale may be null. */

/** The best tokens with their scores, best first, of equal logits the lowest id first:
 * best->count = min(best->capacity, vocab_size); a capacity of 0 is an INVALID_OPTION. The list is
 * kept in order while logits go by, which is quick for tens or hundreds of tokens. */
embert_status embert_lm_top(embert_engine* engine, uint32_t row, embert_candidates* best,
                            embert_log_sum* log_sum, embert_scale* scale);
/** Logits and scores, within the whole vocabulary, of the tokens items[i].id, i < count. */
embert_status embert_lm_score(embert_engine* engine, uint32_t row, embert_candidates* tokens,
                              embert_log_sum* log_sum, embert_scale* scale);
/** All logits [vocab_size]. */
embert_status embert_lm_logits(embert_engine* engine, uint32_t row, int32_t* logits,
                               embert_scale* scale);

/* ---- Decoders: the KV cache in the arena ----------------------------------------------------- */

/** Forgets all tokens of all texts. Sources stay. */
embert_status embert_cache_clear(embert_engine* engine);
/** Tokens that a text has in the cache; 0 out of range. */
uint32_t embert_cache_length(const embert_engine* engine, uint32_t text);
/** Text i continues text parents[i] as it is now, for i < batch: for beam search. The parent's
 * tokens keep what they read of its source; text i goes on with its own source. */
embert_status embert_cache_reorder(embert_engine* engine, const uint32_t* parents, uint32_t batch);
/** Keeps the first length tokens of a text. */
embert_status embert_cache_truncate(embert_engine* engine, uint32_t text, uint32_t length);

/* ---- Sources: encoder states that cross-attention reads -------------------------------------- */

typedef struct embert_source {
  size_t size;             /**< sizeof(embert_source) */
  const int16_t* states;   /**< for each text [lengths[i]][cross_hidden_size], one after another */
  const uint32_t* lengths; /**< [batch], each 1..max_source_tokens */
  uint32_t batch;          /**< 1..max_batch */
  embert_scale scale;      /**< of the states */
  /* ---- optional ---- */
  const uint8_t* mask;     /**< [sum of lengths]: 0 hides a token; null: none is hidden */
} embert_source;

/** The states that later calls attend: text i reads source i, or source 0 where it is the only one.
 * Empties the KV cache. */
embert_status embert_set_source(embert_engine* engine, const embert_source* source);
/** A model of two stacks: runs the encoder over the texts and makes their last hidden states the
 * source; a key_mask stays in force. Empties the KV cache. output may be null, or asks for results
 * of the encoder (no task heads). */
embert_status embert_encode_source(embert_engine* engine, const embert_input* input,
                                   embert_output* output);

/* ---- Generation ------------------------------------------------------------------------------ */

/** 32 random bits. */
typedef uint32_t (*embert_random)(void* context);

/** Without random and beams, each token is the best one. With random it is drawn as
 * embert_sample_candidate does. With beams, beam search finds the sequence with the best mean
 * logarithm of its tokens' probabilities, end token included. */
typedef struct embert_generate_options {
  size_t size;              /**< sizeof(embert_generate_options) */
  uint32_t max_new_tokens;  /**< 1 and up */
  uint32_t end_id;          /**< stops a text; UINT32_MAX: no token does */
  uint32_t beams;           /**< 1..max_batch; 1: no beam search. Above 1 random must be null */
  uint32_t temperature_q16; /**< with random, as the next two: see embert_sample_options */
  embert_q30 top_p;
  size_t top_k;             /**< 1..65536 */
  /* ---- optional ---- */
  embert_random random;     /**< null: the best token */
  void* random_context;
} embert_generate_options;

/** Sets the members that options->size covers: 20 tokens, the model's end token, no beams, no
 * random; temperature 1, top_p 1, top_k 50. A null model has no end token. */
embert_status embert_generate_options_init(const embert_model* model,
                                           embert_generate_options* options);

static inline embert_generate_options embert_generate_options_default(const embert_model* model) {
  embert_generate_options options;
  options.size = sizeof(options);
  embert_generate_options_init(model, &options);
  return options;
}

typedef enum embert_finish EMBERT_ENUM_TYPE {
  EMBERT_FINISH_END = 0,       /**< the end token, which is the last of ids */
  EMBERT_FINISH_LENGTH = 1,    /**< max_new_tokens */
  EMBERT_FINISH_CACHE_FULL = 2 /**< options.max_tokens of the engine: the KV cache has no room for
                                * the last of ids */
} embert_finish;

/** One generation: its prompt, its memory and its result. */
typedef struct embert_generation {
  size_t size;                /**< sizeof(embert_generation) */
  const int32_t* prompt;      /**< [prompt_length] */
  size_t prompt_length;       /**< 0: the model's start token; EMPTY_INPUT where it has none */
  void* workspace;            /**< 8-byte aligned, else ARENA_MISALIGNED */
  size_t workspace_bytes;     /**< below embert_generate_bytes: ARENA_TOO_SMALL */
  int32_t* ids;               /**< [capacity] of yours: new tokens, without the prompt */
  size_t capacity;
  size_t count;               /**< out; with BUFFER_TOO_SMALL how many there may be */
  embert_log2_q26 log2_score; /**< out: sum over ids, before temperature, top_k and top_p */
  uint32_t finish;            /**< out: embert_finish */
  uint32_t reserved;          /**< 0 */
} embert_generation;

/** Workspace that embert_generate needs beside the arena. It depends on the options only. */
embert_status embert_generate_bytes(const embert_generate_options* options,
                                    size_t* workspace_bytes);

/** Continues a prompt, with a decoder of one stack or two. Empties the KV cache first; set the
 * source before. A wrong prompt has embert_run's statuses, TOO_MANY_TOKENS and so on; more beams
 * than max_batch are TOO_MANY_TEXTS. Beam search is that of Hugging Face transformers 4.44 with
 * length_penalty 1 and without early_stopping: it ends when no running sequence can overtake the
 * finished ones. */
embert_status embert_generate(embert_engine* engine, const embert_generate_options* options,
                              embert_generation* generation);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EMBERT_EMBERT_LM_H_ */
