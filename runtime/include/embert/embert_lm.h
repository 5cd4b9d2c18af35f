/* SPDX-License-Identifier: Apache-2.0
 *
 * embert's language models: words for a token of the last call, and text that goes on.
 *
 * Filling a mask: run the text, then ask for the words of the mask's row.
 *
 *   embert_output output = {0};
 *   embert_run(engine, &input, &output);
 *   embert_lm_top(engine, row, 5, candidates, &count, NULL, NULL);
 *
 * Generating with a decoder: embert_generate does it all. A caller who wants each word as it comes, masks, or a rule of his
 * own for the next word has the same in a loop:
 *
 *   embert_cache_clear(engine);
 *   input.ids = prompt, length = prompt_length;                           input.lengths = &length, input.batch = 1
 *   for (;;) {
 *     embert_run(engine, &input, &output);                                appends to the cache
 *     embert_lm_top(engine, length - 1, 50, candidates, &count, NULL, &scale);
 *     embert_sample_candidate(candidates, count, scale, &options, random, &index);
 *     id = candidates[index].id;
 *     if (id == end_id) break;
 *     input.ids = &id, length = 1;
 *   }
 *
 * Nothing needs a buffer as large as the vocabulary: logits go by in blocks.
 */
#ifndef EMBERT_EMBERT_LM_H_
#define EMBERT_EMBERT_LM_H_

#include <stddef.h>
#include <stdint.h>

#include "embert/embert.h"
#include "embert/embert_tasks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Words for a token --------------------------------------------------------------------------------- */

/* row counts the tokens of all texts of the last call; ROW_OUT_OF_RANGE where that did not compute it. log_sum and scale may
 * be null. Status beside those: NO_LM. */

/** The top_k best words with their scores, best first, of equal logits the lowest id first: *count = min(top_k, vocab_size).
 * The list is kept in order while words go by, which is quick for tens or hundreds of them. */
embert_status embert_lm_top(embert_engine* engine, uint32_t row, size_t top_k, embert_candidate* candidates, size_t* count,
                            embert_log_sum* log_sum, embert_scale* scale);
/** Logits and scores of the words candidates[i].id, i < n: their scores are those in the whole vocabulary. */
embert_status embert_lm_score(embert_engine* engine, uint32_t row, embert_candidate* candidates, size_t n,
                              embert_log_sum* log_sum, embert_scale* scale);

/* ---- Text that goes on ---------------------------------------------------------------------------------- */

/** 32 random bits. */
typedef uint32_t (*embert_random)(void* context);

/** The best word each time; or with random one drawn as embert_sample_candidate does; or with beams the sequence with the
 * best mean logarithm of its words' probabilities (end token included), found by beam search. */
typedef struct embert_generate_options {
  uint32_t max_new_tokens;      /**< 1 and up */
  uint32_t end_id;              /**< stops a text; UINT32_MAX: nothing does */
  uint32_t beams;               /**< 1..max_batch; 1: no beam search. More go without random */
  embert_random random;         /**< null: the best word */
  void* random_context;
  embert_sample_options sample; /**< with random; top_k 1..65536 */
} embert_generate_options;

/** 20 tokens, the model's end token, no beams, no random; temperature 1, top_k 50, top_p 1. A null model has no end
 * token. */
embert_generate_options embert_generate_options_default(const embert_model* model);

typedef enum embert_finish {
  EMBERT_FINISH_END = 0,       /**< the end token, which is the last of ids */
  EMBERT_FINISH_LENGTH = 1,    /**< max_new_tokens */
  EMBERT_FINISH_CACHE_FULL = 2 /**< options.max_tokens of the engine: the cache has no room for the last of ids */
} embert_finish;

typedef struct embert_generation {
  int32_t* ids;               /**< the caller's [capacity]; new tokens, without the prompt */
  size_t capacity;
  size_t count;               /**< out; with BUFFER_TOO_SMALL how many there may be */
  embert_finish finish;       /**< out */
  embert_log2_q26 log2_score; /**< out: sum over ids, before temperature, top_k and top_p */
} embert_generation;

/** Memory that embert_generate works in, beside the arena: of the options only. */
embert_status embert_generate_bytes(const embert_generate_options* options, size_t* workspace_bytes);

/** Continues a prompt, with a decoder of one stack or two. Empties the cache first; encoder states stay: set them before.
 * prompt_length 0: the model's start token, EMPTY_INPUT where it has none. workspace: 8-byte aligned, else
 * ARENA_MISALIGNED; ARENA_TOO_SMALL below embert_generate_bytes. What is wrong with the prompt has embert_run's statuses,
 * TOO_MANY_TOKENS and so on; more beams than max_batch are TOO_MANY_TEXTS. Beam search is that of Hugging Face transformers
 * 4.44 with length_penalty 1 and without early_stopping: it ends when no running sequence can overtake the finished ones. */
embert_status embert_generate(embert_engine* engine, const embert_generate_options* options, const int32_t* prompt,
                              size_t prompt_length, void* workspace, size_t workspace_bytes,
                              embert_generation* generation);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EMBERT_EMBERT_LM_H_ */
