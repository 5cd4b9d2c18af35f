/* SPDX-License-Identifier: Apache-2.0
 *
 * embert's tokenizer: text to token ids with their offsets, and ids back to text.
 *
 * This header is for you if you want ids, need offsets of tokens in the text, or work through long
 * texts in windows. Ids and offsets are those of the model's fast tokenizer in Hugging Face's
 * package tokenizers: WordPiece, Unigram or byte-level BPE.
 */
#ifndef EMBERT_EMBERT_TOKENIZER_H_
#define EMBERT_EMBERT_TOKENIZER_H_

#include "embert/embert.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Text to ids ----------------------------------------------------------------------------- */

/** How a text that is too long is cut: from the longer one of a pair, or from the one named. */
typedef enum embert_truncation EMBERT_ENUM_TYPE {
  EMBERT_TRUNCATION_NONE = 0,
  EMBERT_TRUNCATION_LONGEST_FIRST = 1,
  EMBERT_TRUNCATION_ONLY_FIRST = 2,
  EMBERT_TRUNCATION_ONLY_SECOND = 3
} embert_truncation;

typedef struct embert_tokenize_options {
  size_t size;                 /**< sizeof(embert_tokenize_options) */
  int32_t max_tokens;          /**< longest result, special tokens included; 0, or fewer than the
                                  special tokens: no limit, as in Hugging Face */
  int32_t stride;              /**< tokens that a window repeats from the one before */
  uint32_t window;             /**< which window of a long text; truncation keeps window 0 */
  uint32_t add_special_tokens; /**< 1: as the model's template says ([CLS] text [SEP]) */
  uint32_t truncation;         /**< embert_truncation */
  uint32_t reserved;           /**< 0 */
} embert_tokenize_options;

/** Sets the members that options->size covers: the model's max_tokens, longest first, special
 * tokens, no stride. A null model gives no limit. */
embert_status embert_tokenize_options_init(const embert_model* model,
                                           embert_tokenize_options* options);

static inline embert_tokenize_options embert_tokenize_options_default(const embert_model* model) {
  embert_tokenize_options options;
  options.size = sizeof(options);
  embert_tokenize_options_init(model, &options);
  return options;
}

/** Results. Arrays are yours and may be null; others have room for capacity tokens. */
typedef struct embert_tokens {
  size_t size;             /**< sizeof(embert_tokens) */
  size_t capacity;
  size_t length;           /**< out: tokens of this window; also with BUFFER_TOO_SMALL */
  uint32_t windows;        /**< out: windows that the text has; also with WINDOW_OUT_OF_RANGE */
  int32_t* ids;            /**< [capacity] */
  /* ---- optional ---- */
  int32_t* type_ids;       /**< [capacity] segments, as the template says */
  uint32_t* byte_offsets;  /**< [capacity][2] start and end in the text that the token is from; 0, 0
                            * for special tokens of the template */
  uint32_t* char_offsets;  /**< [capacity][2] the same in Unicode code points */
  int32_t* word_ids;       /**< [capacity] words counted in each text; -1 for special tokens */
  int32_t* sequence_ids;   /**< [capacity] 0 or 1: which text; -1 for special tokens */
} embert_tokens;

/** Tokenises a text or a pair. A maximal part that is not UTF-8 counts as one U+FFFD; WordPiece
 * with clean_text drops it, others keep it. A null text with 0 bytes is an empty one. Null options:
 * the defaults. */
embert_status embert_tokenize(const embert_model* model, const embert_text* text,
                              const embert_tokenize_options* options, embert_tokens* tokens);

/* ---- Ids to text ----------------------------------------------------------------------------- */

/** The string of a token: UTF-8 in the blob, not terminated. */
embert_status embert_token(const embert_model* model, uint32_t id, const char** string,
                           size_t* bytes);

typedef struct embert_detokenize_options {
  size_t size;           /**< sizeof(embert_detokenize_options) */
  /* ---- optional ---- */
  uint32_t skip_special; /**< 1: without the model's [CLS], [SEP], [PAD], [MASK] and [UNK] */
  uint32_t clean_up;     /**< 1: no blanks around apostrophes, either ("don't" for don ' t) */
} embert_detokenize_options;

/** Room for a text. */
typedef struct embert_text_buffer {
  char* text;      /**< [capacity] of yours */
  size_t capacity; /**< bytes */
  size_t bytes;    /**< out; with BUFFER_TOO_SMALL the room needed, maybe a few bytes too many */
} embert_text_buffer;

/** Text of ids [count]: pieces of a word joined, a blank between words, none before . ? ! and a
 * comma. BPE and Unigram have their spaces in the tokens and give these; of Unigram the first one
 * vanishes if the tokenizer put it there. UTF-8, not terminated. Null options: both 0. */
embert_status embert_detokenize(const embert_model* model, const int32_t* ids, size_t count,
                                const embert_detokenize_options* options,
                                embert_text_buffer* text);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EMBERT_EMBERT_TOKENIZER_H_ */
