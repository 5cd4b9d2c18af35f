/* SPDX-License-Identifier: Apache-2.0
 *
 * embert on a system with files, a heap and threads: a model file and any number of texts.
 *
 * This header is for you if you run embert on a server, a desktop or a phone and want one call for
 * a list of texts. The tool and the Python package are made of it. The runtime (embert/embert.h)
 * stays what it is: heap, threads and files live only here.
 *
 *   embert_hosted* model;
 *   embert_hosted_open("minilm.emb", NULL, &model);
 *   embert_hosted_embed(model, &texts, NULL, vectors, vectors_bytes);
 *   embert_hosted_close(model);
 *
 * One call tokenises the texts, sorts them by length, cuts them into batches, spreads the batches
 * over the model's threads and returns the results in the order of the texts. The results do not
 * depend on the number of threads, on batches or on other calls: each text gets the bits that
 * it gets alone.
 *
 * Threads: a model may be used by any number of threads at once. `threads` bounds how many texts
 * are computed at the same time, over all calls. Threads without work wait and use no processor.
 * After fork() the child can not use a model of its parent (EMBERT_HOSTED_FORKED); it opens its
 * own.
 *
 * Errors: every call returns a code of its cause; embert_hosted_error() is one line for people.
 */
#ifndef EMBERT_EMBERT_HOSTED_H_
#define EMBERT_EMBERT_HOSTED_H_

#include <stddef.h>
#include <stdint.h>

#include "embert/embert.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum embert_hosted_result EMBERT_ENUM_TYPE {
  EMBERT_HOSTED_OK = 0,
  EMBERT_HOSTED_ARGUMENT = 1,  /**< an argument is wrong, or the model cannot do what is asked */
  EMBERT_HOSTED_FILE = 2,      /**< a file cannot be read, or is not what it should be */
  EMBERT_HOSTED_INTERNAL = 3,  /**< a fault of embert */
  EMBERT_HOSTED_TEXT = 4,      /**< a text lacks what the task needs; the message has its index */
  EMBERT_HOSTED_CANCELLED = 5, /**< the progress function asked for it */
  EMBERT_HOSTED_FORKED = 6,    /**< the model was opened in a parent of this process */
  EMBERT_HOSTED_NO_MEMORY = 7,
  EMBERT_HOSTED_WRITE = 8,    /**< a file cannot be written; an existing one is as it was */
  EMBERT_HOSTED_NOT_BUILT = 9 /**< this build has no converter */
} embert_hosted_result;

/** One line about the last call of this thread that failed: what, where, and what to do. Valid
 * until the thread's next call. */
const char* embert_hosted_error(void);

/* ---- A model file ---------------------------------------------------------------------------- */

typedef struct embert_hosted embert_hosted;

typedef struct embert_hosted_options {
  size_t size; /**< sizeof(embert_hosted_options) */
  /* ---- optional ---- */
  uint32_t
      threads; /**< texts computed at the same time; 0: one for each processor that this process
                     * may use, which is also the most */
  uint32_t max_tokens; /**< longest text, 1..max_positions; 0: the model's own */
  const char* isa;     /**< the fastest instruction set that may run, such as "avx2"; null: all */
  uint32_t map;        /**< 1: maps the file read-only, so that all processes of a host share its
                        * memory. As long as the model is open the file must then be replaced by
                        * rename: a program that writes into it or truncates it ends this process
                        * with a signal, or makes it read what was never checked. 0: reads the file
                        * into memory of this process, after which it may change */
  uint32_t reserved;   /**< 0 */
} embert_hosted_options;

/** Reads the file, or maps it, checks every byte of it, and makes an engine for each thread. A file
 * of more than 4 GB is refused. Null options: the defaults. Unless the isa is "scalar", it calls
 * embert_isa_detect, which says what AMX changes in a process. */
embert_hosted_result embert_hosted_open(const char* path, const embert_hosted_options* options,
                                        embert_hosted** model);
/** Ends the threads and frees everything. No other call with this model may run. Null does nothing.
 */
void embert_hosted_close(embert_hosted* model);

/** The opened model, for the functions of embert_inspect.h; valid until the close. */
const embert_model* embert_hosted_model(const embert_hosted* model);
/** What the options became: threads, and the longest text in tokens. */
uint32_t embert_hosted_threads(const embert_hosted* model);
uint32_t embert_hosted_max_tokens(const embert_hosted* model);

/* ---- Texts ----------------------------------------------------------------------------------- */

/** Called in the thread of the call, at most ten times a second and at the end, with the number of
 * texts that are done. Any value but 0 cancels the call. */
typedef int (*embert_hosted_progress)(void* context, size_t done, size_t total);

/** A list of texts, or of pairs of texts: text i is bytes[offsets[i]] .. bytes[offsets[i + 1] - 1].
 * Any bytes: a part that is not UTF-8 reads as U+FFFD (embert_text). */
typedef struct embert_hosted_texts {
  size_t size; /**< sizeof(embert_hosted_texts) */
  size_t count;
  const char* bytes;
  const uint64_t* offsets; /**< [count + 1] */
  /* ---- optional ---- */
  const char* pair_bytes;       /**< the second texts of pairs; null offsets: there are none */
  const uint64_t* pair_offsets; /**< [count + 1] */
  embert_hosted_progress progress;
  void* progress_context;
  uint32_t batch;    /**< most texts of one pass, 1..1024; 0: a good number. It changes memory and
                      * speed, and no result */
  uint32_t reserved; /**< 0 */
} embert_hosted_texts;

/* ---- Vectors --------------------------------------------------------------------------------- */

typedef enum embert_vector_format EMBERT_ENUM_TYPE {
  EMBERT_VECTOR_FLOAT32 = 0,
  EMBERT_VECTOR_INT16 = 1,     /**< as the runtime gives it, real = value * scale */
  EMBERT_VECTOR_INT8 = 2,      /**< each vector scaled to -127..127 by its largest magnitude */
  EMBERT_VECTOR_INT8_UNIT = 3, /**< [-1, 1] mapped to -128..127, the map of sqlite-vec's
                                * vec_quantize_int8(v, 'unit'); vectors of length 1 only */
  EMBERT_VECTOR_UBINARY = 4,   /**< a bit a value, 1 above 0, first value in the highest bit */
  EMBERT_VECTOR_BINARY = 5,    /**< the same bytes minus 128, as sentence-transformers packs them */
  EMBERT_VECTOR_BITS_LSB = 6   /**< first value in the lowest bit, as sqlite-vec packs them */
} embert_vector_format;

typedef struct embert_hosted_vector_options {
  size_t size; /**< sizeof(embert_hosted_vector_options) */
  /* ---- optional ---- */
  uint32_t pooling;    /**< an embert_pooling + 1; 0: the model's own */
  uint32_t normalize;  /**< 1: length 1, also of a model that makes others */
  uint32_t dimensions; /**< the first N dimensions; 0: all. Cut, then normalised, then packed */
  embert_vector_format format;
  const char* prompt;      /**< put before each text (zero-terminated); null: see prompt_name */
  const char* prompt_name; /**< a prompt that the model carries; null: its default prompt, if any */
  embert_scale* scale;     /**< out: that of INT16, which is the same for all texts; may be null */
} embert_hosted_vector_options;

/** Bytes of one vector in this form. */
embert_hosted_result embert_hosted_vector_bytes(const embert_hosted* model,
                                                const embert_hosted_vector_options* options,
                                                size_t* bytes);
/** A vector for each text: vectors [count][embert_hosted_vector_bytes]. A text without tokens gets
 * zeros. After an error vectors is undefined. */
embert_hosted_result embert_hosted_embed(embert_hosted* model, const embert_hosted_texts* texts,
                                         const embert_hosted_vector_options* options, void* vectors,
                                         size_t vectors_bytes);

/* ---- Scores ---------------------------------------------------------------------------------- */

/** Scores of the sequence classifier: scores [count][num_labels]. function: "softmax", "sigmoid",
 * "none" (logits); null: the model's own. A text without tokens gets NaN. */
embert_hosted_result embert_hosted_score(embert_hosted* model, const embert_hosted_texts* texts,
                                         const char* function, float* scores);

/* ---- All other tasks, as JSON ---------------------------------------------------------------- */

/** Runs a task of the tool: "tokenize", "classify", "tag", "answer", "fill-mask", "generate".
 * options: a JSON object with the long options of the tool's subcommand (`{"top": 3}`); null: none.
 * *json: a JSON array with the object that the tool writes with --json for each text, in order. */
embert_hosted_result embert_hosted_run_task(embert_hosted* model, const char* task,
                                            const embert_hosted_texts* texts, const char* options,
                                            char** json);
/** What `embert inspect --json` writes, but for sha256. */
embert_hosted_result embert_hosted_inspect(embert_hosted* model, char** json);
/** Frees the JSON of a call. */
void embert_hosted_free(char* json);

/* ---- Conversion ------------------------------------------------------------------------------ */

/** Called in the thread of the call: stage is a name such as "calibrate", done is 0..1. Any value
 * but 0 cancels. */
typedef int (*embert_hosted_stage)(void* context, const char* stage, double done);

typedef struct embert_hosted_conversion {
  size_t size;        /**< sizeof(embert_hosted_conversion) */
  const char* folder; /**< a Hugging Face folder */
  const char* output; /**< the model file, which appears whole or not at all */
  /* ---- optional ---- */
  const char* options; /**< a JSON object with the long options of `embert convert` */
  embert_hosted_stage progress;
  void* progress_context;
} embert_hosted_conversion;

/** Converts a folder to a model file. *report: what `embert convert --report` writes, but for model
 * and folder; report may be null. Signals are yours: one that ends the process leaves a temporary
 * file beside the output, which the next conversion removes. */
embert_hosted_result embert_hosted_convert(const embert_hosted_conversion* conversion,
                                           char** report);
/** Compares a model with its folder on texts: what `embert verify --json` writes, but for
 * model, folder and texts_file. */
embert_hosted_result embert_hosted_verify(embert_hosted* model, const char* folder,
                                          const embert_hosted_texts* texts, char** json);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EMBERT_EMBERT_HOSTED_H_ */
