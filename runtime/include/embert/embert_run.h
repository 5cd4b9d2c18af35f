/* SPDX-License-Identifier: Apache-2.0
 *
 * embert for callers who have token ids: batches, hidden states, masks, all heads of a model.
 *
 * This header is for you if embert_embed_text and embert_classify_text of embert.h are not enough.
 * Ids come from embert_tokenizer.h or from a tokenizer of your own.
 *
 *   embert_input input = {.size = sizeof(input), .ids = ids, .lengths = &length, .batch = 1};
 *   embert_embed(engine, &input, EMBERT_POOLING_MODEL, vector, &scale);
 *
 * embert_run gives everything at once; the other functions are short forms of it. Shapes in
 * brackets: T is the number of tokens of all texts of a call, H the hidden size.
 */
#ifndef EMBERT_EMBERT_RUN_H_
#define EMBERT_EMBERT_RUN_H_

#include "embert/embert.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Input ----------------------------------------------------------------------------------- */

/** Texts as tokens, one text after another without padding: T tokens in all, the sum of lengths. A
 * null member is not used. */
typedef struct embert_input {
  size_t size;             /**< sizeof(embert_input) */
  const int32_t* ids;      /**< [T]; or embeddings below: one of the two, else NULL_ARGUMENT */
  const uint32_t* lengths; /**< [batch], each 1..max_tokens; of static embeddings 0, too, which
                            * gives a vector of zeros */
  uint32_t batch;          /**< 1..max_batch */
  /* ---- optional ---- */
  const int32_t* type_ids;     /**< [T] segments; null: zeros */
  const int32_t* position_ids; /**< [T]; null: 0, 1, ... in each text, in a decoder from the end of
                                * its cache on */
  const int16_t* embeddings;   /**< [T][H] in place of the tokens' word embeddings */
  embert_scale embeddings_scale;

  uint32_t head_mask_layers; /**< num_layers: head_mask has a row for each layer; else 0 */
  const int32_t* head_mask;  /**< [num_heads] or [num_layers][num_heads]: factors on the attention
                              * probabilities in units of 2^-15, 0..65536 */

  /* Masks: 0 hides, any other value shows. A token that may attend nothing attends everything
   * evenly; in a decoder everything up to itself. */
  const uint8_t* key_mask;   /**< [T]: hides a token from all others; a KV cache remembers it */
  const uint8_t* query_mask; /**< [T]: hides everything from a token */
  const uint8_t* pair_mask;  /**< for each text [length][tokens in its cache before + length] */
  const uint8_t* cross_mask; /**< for each text [length][tokens of its source] */
} embert_input;

/* ---- One pass -------------------------------------------------------------------------------- */

/** Results of a pass. A null pointer: not wanted, and where possible not computed. Buffers are
 * yours; scales are written with their results. */
typedef struct embert_output {
  size_t size; /**< sizeof(embert_output) */
  /* ---- optional ---- */
  const int16_t** hidden; /**< last hidden state: set to [T][H] in the arena, valid until the
                               * next call with this engine */
  int16_t* pooled;        /**< pooler output [batch][H] */
  int32_t* logits;        /**< of the sequence classifier [batch][num_labels] */
  int32_t* token_logits;  /**< of the token classifier [T][num_token_labels] */
  embert_scale hidden_scale, pooled_scale, logits_scale, token_logits_scale; /**< out */
  int16_t* hidden_states; /**< [num_layers + 1][T][H]: embeddings, then each layer's result */
  embert_scale* hidden_state_scales; /**< [num_layers + 1]; needed with hidden_states */
  uint16_t* attentions;       /**< probabilities in units of 2^-15, at most 65535: [num_layers], in
                               * it for each text [num_heads][length][keys], keys as in pair_mask */
  uint16_t* cross_attentions; /**< the same with the tokens of each text's source as keys */
} embert_output;

/** One pass over the texts, and the task heads that output asks for. A decoder appends the tokens
 * to its KV cache. In layers with fewer heads than num_heads the attentions of the missing heads
 * are not written. With only pooled and logits wanted, the last layer computes the first token of
 * each text alone, and embert_lm.h has no rows to read: ask for hidden, too. */
embert_status embert_run(embert_engine* engine, const embert_input* input, embert_output* output);

/* ---- Short forms; scale may be null ---------------------------------------------------------- */

/** The last hidden state of each token: *hidden points to [T][H] in the arena, valid until the next
 * call with this engine. */
embert_status embert_last_hidden_state(embert_engine* engine, const embert_input* input,
                                       const int16_t** hidden, embert_scale* scale);

typedef enum embert_pooling EMBERT_ENUM_TYPE {
  EMBERT_POOLING_MEAN = 0,
  EMBERT_POOLING_CLS = 1,
  EMBERT_POOLING_MAX = 2,
  /* Of models alone, not to be asked for: */
  EMBERT_POOLING_MEAN_SQRT_LENGTH = 3, /**< sum of the tokens / sqrt(their number) */
  EMBERT_POOLING_WEIGHTED_MEAN = 4,    /**< token i, counted from 1, has weight i */
  EMBERT_POOLING_LAST_TOKEN = 5,
  EMBERT_POOLING_MODEL = 255 /**< the one that the model was made for */
} embert_pooling;

/** One vector a text: embeddings [batch][embert_vector_size]. Where the model normalises, vectors
 * have length 1 and scale 2^-15; else they have the scale of the last hidden state, or of the
 * model's last dense layer. INVALID_OPTION: a pooling of another kind; one of your own for a model
 * with several poolings or dense layers behind pooling. */
embert_status embert_embed(embert_engine* engine, const embert_input* input, embert_pooling pooling,
                           int16_t* embeddings, embert_scale* scale);

/** The pooler output, tanh(dense(first token)): pooled [batch][H]. */
embert_status embert_pooler_output(embert_engine* engine, const embert_input* input,
                                   int16_t* pooled, embert_scale* scale);

/** Sequence classification: logits [batch][num_labels]. embert_tasks.h makes scores of them. */
embert_status embert_classify(embert_engine* engine, const embert_input* input, int32_t* logits,
                              embert_scale* scale);

/* ---- Power-on self-test ---------------------------------------------------------------------- */

/** Runs the text that the model carries, from its characters to the logits of every task head, and
 * compares the checksum of all bits with that of the machine where the model was made.
 * SELFTEST_FAILED: memory, processor or build is broken. Empties a decoder's cache and source,
 * whatever the status of the run. The engine needs room for 32 tokens, or for the model's
 * max_tokens if these are fewer, else TOO_MANY_TOKENS. checksum: the one found, also with
 * SELFTEST_FAILED; may be null. */
embert_status embert_selftest(embert_engine* engine, uint32_t* checksum);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EMBERT_EMBERT_RUN_H_ */
