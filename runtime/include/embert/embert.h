/* SPDX-License-Identifier: Apache-2.0
 *
 * embert: BERT in int8 with integer arithmetic only. Text in, vector or labels out.
 *
 * This header is for you if you want a vector or a label of a text. It needs no other:
 *
 *   embert_model model;
 *   embert_model_open(blob, blob_bytes, embert_isa_detect(), &model);
 *   embert_options options = embert_options_default(&model);
 *   size_t bytes;
 *   embert_arena_bytes(&model, &options, &bytes);
 *   embert_engine* engine;
 *   embert_engine_init(&model, &options, arena, bytes, &engine);
 *   const embert_text text = {.text = "Hello", .text_bytes = 5};
 *   embert_embed_text(engine, &text, vector, &scale);       or embert_classify_text
 *
 * The other headers: embert_run.h (token ids in; hidden states, masks, batches), embert_tokenizer.h
 * (text to ids and back), embert_tasks.h (logits to entities, answers, labels), embert_vector.h
 * (compare and shrink vectors), embert_lm.h (masked tokens, decoders, generation), embert_inspect.h
 * (model facts), embert_host.h (threads). RENAMED.md beside them has the names of version 0.1.
 *
 * Same model and text give the same bits on every processor, ISA and number of threads.
 * Memory: blob and arena are yours, at 64-byte aligned addresses, and outlive model and engine.
 * embert does not allocate, print, throw, read the environment or keep static variables; there is
 * nothing to free. (embert_isa_detect and the thread pool of embert_host.h are for hosted systems.)
 * Threads: a model is immutable and may be shared; an engine belongs to one thread at a time.
 * Statuses: a function writes results only with EMBERT_STATUS_OK, unless its comment says more.
 *
 * Structs whose first member is `size` can grow in later versions, and programs compiled before
 * still run. Set size to sizeof(the struct) and all other members to zero before you fill it in:
 * `embert_options options = {.size = sizeof(options)};`, or call its ..._default function. A member
 * behind the line "optional" may be missing in an older program and is then zero. INVALID_OPTION:
 * size is 0 (forgotten), ends before that line or is over 4096, or the struct is longer than this
 * library's and has more than zeros there. Structs without `size` never change.
 */
#ifndef EMBERT_EMBERT_H_
#define EMBERT_EMBERT_H_

#include <stddef.h>
#include <stdint.h>

#include "embert/embert_status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EMBERT_VERSION_MAJOR 0
#define EMBERT_VERSION_MINOR 2
#define EMBERT_VERSION_PATCH 0
const char* embert_version(void); /**< "0.2.0" */

/* ---- ISA extensions: instruction sets that have kernels of their own ------------------------- */

/** Bits of a mask. The values never change. */
#define EMBERT_ISA_SCALAR 0u
#define EMBERT_ISA_AVX2 1u
#define EMBERT_ISA_AVXVNNI 2u
#define EMBERT_ISA_AVX512VNNI 4u
#define EMBERT_ISA_AVX512_FREE_PIPES 12u /**< AVX512VNNI whose products leave vector pipes free */
#define EMBERT_ISA_AMXINT8 16u
#define EMBERT_ISA_NEON 0x100u
#define EMBERT_ISA_DOTPROD 0x200u
#define EMBERT_ISA_I8MM 0x400u
#define EMBERT_ISA_MVE 0x10000u
#define EMBERT_ISA_DSP 0x20000u
#define EMBERT_ISA_SIMD128 0x1000000u

/** The ISA extensions that both this machine (on bare metal: the build) and this build have. For
 * AMX, Linux is asked for registers; from then on it wants signal stacks of AT_MINSIGSTKSZ (12 KB). */
uint32_t embert_isa_detect(void);
/** Name of the fastest extension in the mask, such as "avx512vnni"; "scalar" if it has none. */
const char* embert_isa_name(uint32_t isa_mask);

/* ---- Model ----------------------------------------------------------------------------------- */

/** All zeros: never opened. Calls answer INVALID_OPTION or NO_TOKENIZER; sizes are 0. */
typedef struct embert_model {
  uint64_t opaque[48];
} embert_model;

/** Validates every byte of the blob that later code relies on, and fills in model. Copies nothing:
 * the blob stays in use and must not change (replace a mapped file by rename, never in place).
 * isa_mask: the kernels allowed, embert_isa_detect() or a part of it. */
embert_status embert_model_open(const void* blob, size_t blob_bytes, uint32_t isa_mask,
                                embert_model* model);

/** Values of a text's vector, of a hidden state; labels of the classifier. Without one of these 0. */
uint32_t embert_vector_size(const embert_model* model);
uint32_t embert_hidden_size(const embert_model* model);
uint32_t embert_num_labels(const embert_model* model);
/** Name of a label: zero-terminated UTF-8 in the blob; null from num_labels on. */
const char* embert_model_label(const embert_model* model, uint32_t label);

/* ---- Engine: what a model needs to run, in an arena of yours --------------------------------- */

typedef struct embert_engine embert_engine;

/** Calls task(task_argument, i) for i = 0 .. tasks-1, in any order, in parallel or in turn, and
 * returns when all are done. tasks is options.threads. Tasks share an atomic counter in memory. */
typedef void (*embert_parallel_for)(void* context, void (*task)(void* task_argument, size_t index),
                                    void* task_argument, size_t tasks);

typedef struct embert_options {
  size_t size;                /**< sizeof(embert_options) */
  uint32_t max_tokens;        /**< longest text, 1..max_positions; of a decoder, its cache */
  uint32_t max_batch;         /**< most texts of a call, 1..1024 */
  uint32_t threads;           /**< 1..64; more than 1 needs parallel_for */
  uint32_t max_source_tokens; /**< longest source of cross-attention; 0 in models without it */
  /* ---- optional ---- */
  embert_parallel_for parallel_for; /**< null: everything in the calling thread */
  void* parallel_context;
} embert_options;

/** Sets the members that size covers: the model's max_tokens, one text and thread. Null: zeros. */
embert_status embert_options_init(const embert_model* model, embert_options* options);

static inline embert_options embert_options_default(const embert_model* model) {
  embert_options options;
  options.size = sizeof(options);
  embert_options_init(model, &options);
  return options;
}

/** The arena's exact size. It depends on model and options only: every machine has the same. */
embert_status embert_arena_bytes(const embert_model* model, const embert_options* options,
                                 size_t* bytes);

/** Puts an engine into the arena: 64-byte aligned, embert_arena_bytes long, apart from the blob. */
embert_status embert_engine_init(const embert_model* model, const embert_options* options,
                                 void* arena, size_t arena_bytes, embert_engine** engine);

/* ---- Text to vector, text to labels ---------------------------------------------------------- */

/** A text, or a pair of texts such as question and passage. Any bytes, zeros included: a part that
 * is not UTF-8 reads as U+FFFD, which BERT's cleaning of text drops. One of 0 bytes may be null. */
typedef struct embert_text {
  const char* text;
  size_t text_bytes;
  const char* pair; /**< the second text; null: there is none */
  size_t pair_bytes;
} embert_text;

/** real = value * scale. The scale has the bits of a float32, so that no float unit is needed. */
typedef struct embert_scale {
  uint32_t float_bits;
} embert_scale;

/* Both calls take the text as it is, without a prompt (embert_inspect.h has the model's). They add
 * the model's special tokens and cut a text that is longer than options.max_tokens, the longer one
 * of a pair first. They give the bits of embert_tokenize with embert_embed or embert_classify, and
 * use no memory but the arena. A decoder starts the text with an empty KV cache; one with
 * cross-attention needs a source (embert_lm.h). Errors: NO_SOURCE; NO_TOKENIZER; EMPTY_INPUT: the
 * text gives no token (zeros of static embeddings); TOO_MANY_TOKENS: not even the special tokens
 * fit, or the text has 2^30 bytes or more; TYPE_OUT_OF_RANGE: the template has more segments. */

/** One vector of the text, pooled and normalised as the model was made for: vector
 * [embert_vector_size]. A normalised vector has length 1 and scale 2^-15. scale may be null. */
embert_status embert_embed_text(embert_engine* engine, const embert_text* text, int16_t* vector,
                                embert_scale* scale);

/** A probability in units of 2^-30. */
typedef uint32_t embert_q30;
#define EMBERT_Q30_ONE 1073741824u

typedef struct embert_label_score {
  uint32_t label; /**< its name: embert_model_label */
  int32_t logit;
  embert_q30 score; /**< probability; 0 for a regression */
} embert_label_score;

typedef struct embert_labels {
  embert_label_score* items; /**< [capacity], yours; best first, of equal logits the lowest label */
  size_t capacity;           /**< how many you want, 1 and up */
  size_t count;              /**< out */
  embert_scale scale;        /**< out: of the logits */
} embert_labels;

/** The best labels of the text: count = min(capacity, num_labels). Scores are a softmax over the
 * labels; a sigmoid of each in multi-label models and models with one label; for a regression the
 * logit is the result. Error: NO_CLASSIFIER. */
embert_status embert_classify_text(embert_engine* engine, const embert_text* text,
                                   embert_labels* labels);

/* ---- For callers with a float unit (embert_tasks.h has more) --------------------------------- */

static inline float embert_scale_to_float(embert_scale scale) {
  union {
    uint32_t bits;
    float value;
  } both;
  both.bits = scale.float_bits;
  return both.value;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EMBERT_EMBERT_H_ */
