/* SPDX-License-Identifier: Apache-2.0
 *
 * Status codes. Every function of embert that can fail returns one.
 */
#ifndef EMBERT_EMBERT_STATUS_H_
#define EMBERT_EMBERT_STATUS_H_

#include <stdint.h>

/** A fixed type for enumerations: without it a value outside the enumeration is undefined behaviour
 * in C++ before a function can refuse it. */
#ifdef __cplusplus
#define EMBERT_ENUM_TYPE : uint32_t
extern "C" {
#else
#define EMBERT_ENUM_TYPE
#endif

/** The values never change. They come in decades: 1x and 5x arguments (58: the model), 2x blob (29:
 * this build), 3x memory, 4x not supported by this model or build, 6x the machine. */
typedef enum embert_status EMBERT_ENUM_TYPE {
  EMBERT_STATUS_OK = 0,
  EMBERT_STATUS_NULL_ARGUMENT = 10,
  EMBERT_STATUS_INVALID_OPTION = 11,     /**< an option or enumerator outside its range, a struct
                                          * whose size was not set, a model that was not opened */
  EMBERT_STATUS_EMPTY_INPUT = 12,        /**< no text, or a text without a token */
  EMBERT_STATUS_TOO_MANY_TOKENS = 13,    /**< a text longer than options.max_tokens */
  EMBERT_STATUS_TOO_MANY_TEXTS = 14,     /**< more texts than options.max_batch */
  EMBERT_STATUS_TOKEN_OUT_OF_RANGE = 15, /**< an id outside the vocabulary */
  EMBERT_STATUS_TYPE_OUT_OF_RANGE = 16,  /**< a segment id outside the model's table */
  EMBERT_STATUS_BUFFER_TOO_SMALL = 17,   /**< the call reports the size that is needed */
  EMBERT_STATUS_TRUNCATION = 18,         /**< the text can not be cut as asked, or the stride is not
                                          * smaller than the room for text */
  EMBERT_STATUS_WINDOW_OUT_OF_RANGE = 19,
  EMBERT_STATUS_BLOB_TRUNCATED = 20,     /**< fewer bytes than a header has, or than it says */
  EMBERT_STATUS_BLOB_MISALIGNED = 21,    /**< not at a 64-byte aligned address */
  EMBERT_STATUS_BLOB_MAGIC = 22,         /**< not a model blob */
  EMBERT_STATUS_BLOB_VERSION = 23,       /**< a format version that this build does not read */
  EMBERT_STATUS_BLOB_CHECKSUM = 24,
  EMBERT_STATUS_BLOB_HEADER = 25,        /**< a header field outside its range */
  EMBERT_STATUS_BLOB_SECTION = 26,       /**< a section missing, out of place or of a wrong size */
  EMBERT_STATUS_BLOB_VALUE = 27,         /**< a table value outside its range */
  EMBERT_STATUS_BLOB_TOKENIZER = 28,     /**< the tokenizer section is broken */
  EMBERT_STATUS_NOT_BUILT = 29,          /**< a tokenizer or family that this build leaves out */
  EMBERT_STATUS_ARENA_TOO_SMALL = 30,
  EMBERT_STATUS_ARENA_MISALIGNED = 31,
  EMBERT_STATUS_NO_TOKENIZER = 40,       /**< the model was converted without one */
  EMBERT_STATUS_NO_POOLER = 41,
  EMBERT_STATUS_NO_CLASSIFIER = 42,
  EMBERT_STATUS_LAYOUT = 43,             /**< no kernel of these ISAs reads weights in this order */
  EMBERT_STATUS_ISA = 44,                /**< the mask names ISA extensions without kernels here */
  EMBERT_STATUS_NO_TOKEN_CLASSIFIER = 45,
  EMBERT_STATUS_NO_LM = 46,              /**< no language model head */
  EMBERT_STATUS_NOT_A_DECODER = 47,      /**< the call is for models with a KV cache */
  EMBERT_STATUS_NO_CROSS_ATTENTION = 48,
  EMBERT_STATUS_NO_ENCODER = 49,         /**< static embeddings: the call is for models with layers */
  EMBERT_STATUS_POSITION_OUT_OF_RANGE = 50, /**< a position id outside the table */
  EMBERT_STATUS_INVALID_MASK = 51,       /**< a mask that this model or call does not take, or a
                                          * head factor over 2 */
  EMBERT_STATUS_CACHE_FULL = 52,         /**< more than options.max_tokens in a text's KV cache */
  EMBERT_STATUS_NO_SOURCE = 53,          /**< cross-attention without as many source texts */
  EMBERT_STATUS_INVALID_SCALE = 54,      /**< a scale that is not positive, normal and finite */
  EMBERT_STATUS_ROW_OUT_OF_RANGE = 55,   /**< a token that the last call did not compute */
  EMBERT_STATUS_NO_MASK_TOKEN = 56,      /**< neither text nor vocabulary has a mask token */
  EMBERT_STATUS_NO_CHOICES = 57,         /**< a prompt without choices */
  EMBERT_STATUS_NO_SELFTEST = 58,        /**< the model was made without one */
  EMBERT_STATUS_SELFTEST_FAILED = 60     /**< other bits than where the model was made: trust no
                                          * result of this machine */
} embert_status;

/** "EMBERT_STATUS_OK" and so on; "unknown status" for other values. */
const char* embert_status_name(embert_status status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EMBERT_EMBERT_STATUS_H_ */
