/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts about an opened model, for tools that show it or choose by it.
 *
 * This header is for you if you want more than embert_vector_size, embert_num_labels and
 * embert_model_label of embert.h. Set the size of a struct before the call; the library fills in
 * the members that size covers.
 */
#ifndef EMBERT_EMBERT_INSPECT_H_
#define EMBERT_EMBERT_INSPECT_H_

#include "embert/embert.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum embert_classifier_task EMBERT_ENUM_TYPE {
  EMBERT_CLASSIFIER_SEQUENCE = 0,
  EMBERT_CLASSIFIER_NEXT_SENTENCE = 1,  /**< label 0: the second text follows the first */
  EMBERT_CLASSIFIER_MULTIPLE_CHOICE = 2 /**< one logit a text, compared between choices */
} embert_classifier_task;

typedef enum embert_token_task EMBERT_ENUM_TYPE {
  EMBERT_TOKENS_LABELS = 0,
  EMBERT_TOKENS_ANSWER = 1 /**< label 0: an answer starts here, 1: it ends here */
} embert_token_task;

typedef struct embert_model_info {
  size_t size; /**< sizeof(embert_model_info) */
  /* ---- optional ---- */
  uint32_t num_stacks; /**< 2: an encoder and its decoder. The sizes below are the last stack's */
  uint32_t hidden_size, num_layers, num_heads, head_size, intermediate_size;
  uint32_t vocab_size, max_positions, type_vocab_size;
  uint32_t is_decoder;        /**< 1: causal attention; keys and values are cached */
  uint32_t cross_hidden_size; /**< width of the encoder states that it attends; 0: none */
  uint32_t max_tokens;        /**< default length of a text, special tokens included */
  uint32_t num_labels;        /**< 0: no sequence classifier */
  uint32_t classifier_task;   /**< embert_classifier_task */
  uint32_t problem;           /**< embert_problem of embert_tasks.h */
  uint32_t num_token_labels;  /**< 0: no token classifier */
  uint32_t token_task;        /**< embert_token_task */
  uint32_t pooling;           /**< embert_pooling of embert_run.h; the first of num_poolings */
  uint32_t normalize;         /**< 1: embert_embed gives vectors of length 1 */
  uint32_t start_id, end_id;  /**< first and last token of generated text; UINT32_MAX: none */
  uint32_t has_tokenizer, has_pooler, has_lm;
  uint32_t isa_mask;       /**< ISA extensions in use */
  uint32_t checksum;       /**< the blob's own CRC-32C: tells models apart */
  const char* certificate; /**< JSON of the converter, UTF-8, not terminated; in the blob */
  size_t certificate_bytes;
  uint32_t num_prompts;
  uint32_t default_prompt;   /**< UINT32_MAX: none */
  uint32_t vector_size;      /**< values of the vector of a text (embert_embed) */
  uint32_t num_poolings;     /**< side by side in a vector: embert_model_pooling */
  uint32_t num_vector_dense; /**< dense layers behind pooling */
  uint32_t embedding_size;   /**< width of the word embeddings; mostly hidden_size */
  uint32_t layout;           /**< order of the weights: 1 n16k4, 2 n8k16 (FORMAT.md) */
  uint32_t has_kernels;      /**< 1: the kernels of isa_mask read it; 0: no engine can run it */
} embert_model_info;

embert_status embert_model_get_info(const embert_model* model, embert_model_info* info);

/** Sizes of one stack. */
typedef struct embert_stack_info {
  size_t size; /**< sizeof(embert_stack_info) */
  /* ---- optional ---- */
  uint32_t hidden_size, num_layers, num_heads, head_size, intermediate_size;
  uint32_t vocab_size, max_positions, type_vocab_size;
} embert_stack_info;

/** 0 <= stack < num_stacks, else INVALID_OPTION: of two, 0 is the encoder and 1 its decoder. */
embert_status embert_model_get_stack(const embert_model* model, uint32_t stack,
                                     embert_stack_info* info);

/** Attention heads that a layer has after pruning; 0 out of range. */
uint32_t embert_model_layer_heads(const embert_model* model, uint32_t stack, uint32_t layer);

/** Name of a label of the token classifier: zero-terminated UTF-8 in the blob; null from
 * num_token_labels on. */
const char* embert_model_token_label(const embert_model* model, uint32_t label);

/* A prompt is a text that goes before each text, such as "query: ", as the model was trained. No
 * function of the library puts one there: a caller who wants one joins prompt and text. */

/** Name and text of a prompt: zero-terminated UTF-8 in the blob; null from num_prompts on. Names are
 * not empty and ascend byte by byte. A text may be empty. */
const char* embert_model_prompt_name(const embert_model* model, uint32_t prompt);
const char* embert_model_prompt_text(const embert_model* model, uint32_t prompt);

/** Pooling number `index` of the vector, embert_pooling of embert_run.h; UINT32_MAX from
 * num_poolings on. */
uint32_t embert_model_pooling(const embert_model* model, uint32_t index);

/** A part of the blob. */
typedef struct embert_section {
  size_t size; /**< sizeof(embert_section) */
  /* ---- optional ---- */
  const char* name; /**< such as "qkv"; "unknown": an optional part of a later version */
  uint32_t stack;   /**< UINT32_MAX: not of a stack */
  uint32_t layer;   /**< UINT32_MAX: not of a layer */
  uint64_t offset, bytes;
} embert_section;

/** The parts of the blob in file order, index 0 and up; INVALID_OPTION behind the last. */
embert_status embert_model_section(const embert_model* model, uint32_t index,
                                   embert_section* section);

typedef enum embert_tokenizer_type EMBERT_ENUM_TYPE {
  EMBERT_TOKENIZER_WORDPIECE = 0,
  EMBERT_TOKENIZER_UNIGRAM = 1,
  EMBERT_TOKENIZER_BPE = 2 /**< of bytes */
} embert_tokenizer_type;

/** How the model's tokenizer works. An id is UINT32_MAX where the vocabulary has no such token. */
typedef struct embert_tokenizer_info {
  size_t size; /**< sizeof(embert_tokenizer_info) */
  /* ---- optional ---- */
  uint32_t token_count, added_token_count;
  uint32_t lowercase, strip_accents, split_cjk, clean_text; /**< of WordPiece: 0 or 1 */
  uint32_t max_word_chars;                                  /**< of WordPiece */
  uint32_t unk_id, cls_id, sep_id, pad_id, mask_id;
  uint32_t type; /**< embert_tokenizer_type */
  uint32_t reserved;
} embert_tokenizer_info;

/** NO_TOKENIZER where the model has none. */
embert_status embert_model_get_tokenizer(const embert_model* model, embert_tokenizer_info* info);

/** CRC-32C (RFC 3720, section 12.1), the checksum of blobs. Goes on from crc; start with 0. */
uint32_t embert_crc32c(uint32_t crc, const void* data, size_t bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EMBERT_EMBERT_INSPECT_H_ */
