/* SPDX-License-Identifier: Apache-2.0
 *
 * embert: BERT in int8 with integer arithmetic only. Text in, vector or label out.
 *
 *   embert_model model;
 *   embert_model_open(blob, blob_bytes, embert_isa_detect(), &model);       validates, copies nothing
 *   embert_options options = embert_options_default(&model);
 *   size_t bytes;
 *   embert_arena_bytes(&model, &options, &bytes);                           exact, to the byte
 *   embert_engine* engine;
 *   embert_engine_init(&model, &options, arena, bytes, &engine);            the engine lives in the arena
 *   embert_tokenize(&model, text, text_bytes, NULL, 0, NULL, &encoding);    ids and offsets
 *   embert_embed(engine, &input, EMBERT_POOLING_MODEL, embedding, &scale);  or embert_classify, embert_last_hidden_state
 *
 * The same model and text give the same bits on every processor, instruction set and number of threads.
 * Memory: blob and arena belong to the caller, start at 64-byte aligned addresses and outlive model and
 * engine. Nothing here allocates, prints, throws, reads the environment or keeps a static variable; there is
 * nothing to free. (embert_isa_detect and the thread pool of embert_host.h are for hosted systems.)
 * Threads: a model is immutable and may be shared; an engine belongs to one thread at a time.
 * Functions that can fail return a status; results are written only where it is EMBERT_STATUS_OK, unless said.
 */
#ifndef EMBERT_EMBERT_H_
#define EMBERT_EMBERT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EMBERT_VERSION_MAJOR 0
#define EMBERT_VERSION_MINOR 1
#define EMBERT_VERSION_PATCH 0

/** Pinned values, in decades: 1x and 5x argument, 2x blob, 3x memory, 4x not supported by this model or build, 6x
 * the machine. */
typedef enum embert_status {
  EMBERT_STATUS_OK = 0,
  EMBERT_STATUS_NULL_ARGUMENT = 10,
  EMBERT_STATUS_INVALID_OPTION = 11,     /**< an option, enumerator or mask outside its range */
  EMBERT_STATUS_EMPTY_INPUT = 12,        /**< no text, or a text without a token */
  EMBERT_STATUS_TOO_MANY_TOKENS = 13,    /**< a text longer than options.max_tokens */
  EMBERT_STATUS_TOO_MANY_TEXTS = 14,     /**< more texts than options.max_batch */
  EMBERT_STATUS_TOKEN_OUT_OF_RANGE = 15, /**< an id outside the vocabulary */
  EMBERT_STATUS_TYPE_OUT_OF_RANGE = 16,  /**< a segment id outside the model's table */
  EMBERT_STATUS_BUFFER_TOO_SMALL = 17,   /**< the size needed is reported */
  EMBERT_STATUS_TRUNCATION = 18,         /**< the text can not be cut as asked, or stride >= room */
  EMBERT_STATUS_WINDOW_OUT_OF_RANGE = 19,
  EMBERT_STATUS_BLOB_TRUNCATED = 20,     /**< fewer bytes than the header says, or than a header has */
  EMBERT_STATUS_BLOB_MISALIGNED = 21,    /**< not at a 64-byte aligned address */
  EMBERT_STATUS_BLOB_MAGIC = 22,         /**< not a model blob */
  EMBERT_STATUS_BLOB_VERSION = 23,       /**< of a version that this build does not read */
  EMBERT_STATUS_BLOB_CHECKSUM = 24,
  EMBERT_STATUS_BLOB_HEADER = 25,        /**< a header field outside its range */
  EMBERT_STATUS_BLOB_SECTION = 26,       /**< a section missing, out of place or of a wrong size */
  EMBERT_STATUS_BLOB_VALUE = 27,         /**< a table value outside its range */
  EMBERT_STATUS_BLOB_TOKENIZER = 28,     /**< the tokenizer section is broken */
  EMBERT_STATUS_ARENA_TOO_SMALL = 30,
  EMBERT_STATUS_ARENA_MISALIGNED = 31,
  EMBERT_STATUS_NO_TOKENIZER = 40,       /**< the model was converted without one */
  EMBERT_STATUS_NO_POOLER = 41,
  EMBERT_STATUS_NO_CLASSIFIER = 42,
  EMBERT_STATUS_LAYOUT = 43,             /**< weights in an order that no kernel of this build reads */
  EMBERT_STATUS_ISA = 44,                /**< a mask with clusters that this build has no kernels for */
  EMBERT_STATUS_NO_TOKEN_CLASSIFIER = 45,
  EMBERT_STATUS_NO_LM = 46,              /**< no language model head */
  EMBERT_STATUS_NOT_A_DECODER = 47,      /**< a call for models with a cache of keys and values */
  EMBERT_STATUS_NO_CROSS_ATTENTION = 48,
  EMBERT_STATUS_POSITION_OUT_OF_RANGE = 50, /**< a position id outside the table */
  EMBERT_STATUS_INVALID_MASK = 51,       /**< a mask that the model or call has no place for, or a factor over 2 */
  EMBERT_STATUS_CACHE_FULL = 52,         /**< more tokens than options.max_tokens in a text's cache */
  EMBERT_STATUS_NO_SOURCE = 53,          /**< cross-attention without encoder states of as many texts */
  EMBERT_STATUS_INVALID_SCALE = 54,      /**< a scale that is not positive, normal and finite */
  EMBERT_STATUS_ROW_OUT_OF_RANGE = 55,   /**< a token that the last call did not compute */
  EMBERT_STATUS_NO_MASK_TOKEN = 56,      /**< the text has no mask token, or the vocabulary has none */
  EMBERT_STATUS_NO_CHOICES = 57,         /**< a prompt without choices */
  EMBERT_STATUS_NO_SELFTEST = 58,        /**< the model was made without one */
  EMBERT_STATUS_SELFTEST_FAILED = 60     /**< other bits than where the model was made: trust nothing */
} embert_status;

/** "EMBERT_STATUS_OK" and so on; "unknown status" for other values. */
const char* embert_status_name(embert_status status);
/** "0.1.0" */
const char* embert_version(void);

/* ---- Instruction sets ---------------------------------------------------------------------------------- */

/** Clusters of kernels, as bits of a mask; pinned values. */
#define EMBERT_ISA_SCALAR 0u
#define EMBERT_ISA_AVX2 1u
#define EMBERT_ISA_AVXVNNI 2u
#define EMBERT_ISA_AVX512VNNI 4u
#define EMBERT_ISA_NEON 0x100u
#define EMBERT_ISA_DOTPROD 0x200u
#define EMBERT_ISA_I8MM 0x400u
#define EMBERT_ISA_MVE 0x10000u
#define EMBERT_ISA_DSP 0x20000u

/** What this machine and this build both have. On hosted systems cpuinfo reads the machine on the first call,
 * which allocates; on bare metal the build says. */
uint32_t embert_isa_detect(void);
/** Name of the fastest cluster in the mask: "scalar", "avx2", "avxvnni", "avx512vnni", "neon", "dotprod", "i8mm", "mve",
 * "dsp". */
const char* embert_isa_name(uint32_t isa_mask);

/* ---- Model --------------------------------------------------------------------------------------------- */

typedef struct embert_model {
  uint64_t opaque[48];
} embert_model;

/** Checks every byte of the blob that later code relies on and fills in model. Nothing is copied: the blob stays in
 * use. isa_mask: the kernels allowed, embert_isa_detect() or a part of it. */
embert_status embert_model_open(const void* blob, size_t blob_bytes, uint32_t isa_mask, embert_model* model);

/** CRC-32C (RFC 3720, 12.1) of any bytes, the checksum of blobs: goes on from crc, start with 0. */
uint32_t embert_crc32c(uint32_t crc, const void* data, size_t bytes);

/** real = value * scale, as the bits of a float32: copied as an integer, so that no float unit is needed. */
typedef struct embert_scale {
  uint32_t float_bits;
} embert_scale;

typedef struct embert_model_info {
  uint32_t num_stacks; /**< 2: an encoder and its decoder. What follows describes the last stack */
  uint32_t hidden_size, num_layers, num_heads, head_size, intermediate_size;
  uint32_t vocab_size, max_positions, type_vocab_size;
  uint32_t is_decoder;        /**< 1: tokens see those before them only; keys and values are cached */
  uint32_t cross_hidden_size; /**< width of the encoder states that it attends; 0: none */
  uint32_t max_tokens; /**< default length of a text, special tokens included */
  uint32_t num_labels; /**< 0: no classifier */
  uint32_t classifier_task; /**< embert_classifier_task */
  uint32_t problem;    /**< embert_problem */
  uint32_t num_token_labels; /**< 0: no token classifier */
  uint32_t token_task; /**< embert_token_task */
  uint32_t pooling;    /**< embert_pooling */
  uint32_t normalize;
  uint32_t start_id, end_id; /**< what generation starts with and ends at; UINT32_MAX: none */
  uint32_t has_tokenizer, has_pooler, has_lm;
  uint32_t isa_mask;        /**< clusters in use */
  uint32_t checksum;        /**< the blob's own: models that differ have others */
  const char* certificate;  /**< UTF-8 JSON of the converter, not terminated; in the blob */
  size_t certificate_bytes;
} embert_model_info;

embert_status embert_model_get_info(const embert_model* model, embert_model_info* info);
/** Sizes of one stack, 0 <= index < num_stacks: with two, 0 is the encoder and 1 its decoder. */
typedef struct embert_stack_info {
  uint32_t hidden_size, num_layers, num_heads, head_size, intermediate_size;
  uint32_t vocab_size, max_positions, type_vocab_size;
} embert_stack_info;
embert_status embert_model_get_stack(const embert_model* model, uint32_t index, embert_stack_info* info);
/** Heads that a layer has, after pruning; 0 out of range. */
uint32_t embert_model_layer_heads(const embert_model* model, uint32_t stack, uint32_t layer);
/** Name of a label, 0 <= label < num_labels: zero-terminated UTF-8 in the blob; null out of range. */
const char* embert_model_label(const embert_model* model, uint32_t label);
/** Name of a label of the token classifier, 0 <= label < num_token_labels, in the same way. */
const char* embert_model_token_label(const embert_model* model, uint32_t label);

/** A part of the blob. */
typedef struct embert_section {
  const char* name; /**< such as "qkv" */
  uint32_t stack;   /**< UINT32_MAX: not of a stack */
  uint32_t layer;   /**< UINT32_MAX: not of a layer */
  uint64_t offset, bytes;
} embert_section;

/** The parts of the blob in file order, index 0 and up; EMBERT_STATUS_INVALID_OPTION behind the last. */
embert_status embert_model_section(const embert_model* model, uint32_t index, embert_section* section);

/** How the model's tokenizer works. An id is UINT32_MAX where the vocabulary has no such token. */
typedef struct embert_tokenizer_info {
  uint32_t token_count, added_token_count;
  uint32_t lowercase, strip_accents, split_cjk, clean_text; /**< 0 or 1 */
  uint32_t max_word_chars;
  uint32_t unk_id, cls_id, sep_id, pad_id, mask_id;
} embert_tokenizer_info;

/** EMBERT_STATUS_NO_TOKENIZER where the model has none. */
embert_status embert_model_get_tokenizer(const embert_model* model, embert_tokenizer_info* info);

/* ---- Engine -------------------------------------------------------------------------------------------- */

typedef struct embert_engine embert_engine;

/** Calls task(task_argument, i) for i = 0 .. tasks-1, in any order, at once or one after another, and returns when
 * all are done. tasks is options.threads. */
typedef void (*embert_parallel_for)(void* context, void (*task)(void* task_argument, size_t index),
                                    void* task_argument, size_t tasks);

typedef struct embert_options {
  uint32_t max_tokens;              /**< longest text, 1..max_positions; of a decoder, the room of its cache */
  uint32_t max_batch;               /**< most texts of a call, 1..1024 */
  uint32_t threads;                 /**< 1..64; more than 1 needs parallel_for */
  uint32_t max_source_tokens;       /**< longest text whose encoder states are attended; 0 without cross-attention */
  embert_parallel_for parallel_for; /**< null: everything in the calling thread */
  void* parallel_context;
} embert_options;

/** The model's max_tokens, one text, one thread. A null model gives zeros. */
embert_options embert_options_default(const embert_model* model);

/** The arena's exact size: of model and options only, the same on every machine. */
embert_status embert_arena_bytes(const embert_model* model, const embert_options* options, size_t* bytes);

/** Puts an engine into the arena (64-byte aligned, at least embert_arena_bytes). *engine points into the arena. */
embert_status embert_engine_init(const embert_model* model, const embert_options* options, void* arena,
                                 size_t arena_bytes, embert_engine** engine);

/** Power-on self-test: runs the text that the model carries, from characters to the logits of every head, and compares
 * with the checksum of the bits that it gave where the model was made. SELFTEST_FAILED: memory, processor or build is
 * broken. A decoder's cache and source are empty afterwards, whatever the status of the run. The engine needs room for
 * max_tokens of the model or for 32 tokens, whichever is less, else TOO_MANY_TOKENS. checksum: the one found, also with
 * SELFTEST_FAILED; may be null. */
embert_status embert_selftest(embert_engine* engine, uint32_t* checksum);

/** Texts as tokens, one after another without padding: T tokens in all, the sum of lengths. Set it to zeros before filling
 * it in: what is null is not used. */
typedef struct embert_input {
  const int32_t* ids;      /**< [T]; or embeddings below: one of the two, else EMBERT_STATUS_NULL_ARGUMENT */
  const int32_t* type_ids; /**< [T], or null for zeros */
  const uint32_t* lengths; /**< [batch], each 1..max_tokens */
  uint32_t batch;          /**< 1..max_batch */

  const int32_t* position_ids;  /**< [T]; null: 0, 1, ... in each text, going on behind what a cache holds */
  const int16_t* embeddings;    /**< [T][hidden_size] in place of the words' rows */
  embert_scale embeddings_scale;

  /* Masks: 0 hides. A token that may attend nothing attends everything (in a decoder, all up to itself) evenly. */
  const uint8_t* key_mask;   /**< [T]: hides a token from all others; a cache remembers it */
  const uint8_t* query_mask; /**< [T]: hides everything from a token */
  const uint8_t* pair_mask;  /**< for each text [length][keys], keys = tokens in the cache before the call + length */
  const uint8_t* cross_mask; /**< for each text [length][tokens of its source] */
  const int32_t* head_mask;  /**< factors in 2^-15, 0..65536, on attention probabilities: [num_heads], or ... */
  uint32_t head_mask_layers; /**< ... [num_layers][num_heads] where this is num_layers; else 0 */
} embert_input;

/** What to compute; null is not computed. Set it to zeros before filling it in. Buffers are the caller's. */
typedef struct embert_output {
  const int16_t** hidden;     /**< last hidden state: set to [T][hidden_size] in the arena, valid until the next call */
  int16_t* hidden_states;     /**< [num_layers + 1][T][hidden_size]: embeddings, then what each layer gives */
  embert_scale* hidden_state_scales; /**< [num_layers + 1]; not null with hidden_states */
  uint16_t* attentions;       /**< in 2^-15, at most 65535, [num_layers], in it for each text [num_heads][length][keys] */
  uint16_t* cross_attentions; /**< the same over the tokens of each text's source */
  int16_t* pooled;            /**< the pooler's output [batch][hidden_size] */
  int32_t* logits;            /**< of the classifier [batch][num_labels] */
  int32_t* token_logits;      /**< of the token classifier [T][num_token_labels] */
  embert_scale hidden_scale, pooled_scale, logits_scale, token_logits_scale; /**< out */
} embert_output;

/** One pass over the texts and all heads that are asked for. A decoder appends the tokens to its cache. Layers with fewer
 * heads than num_heads leave the attentions of the others as they are. With only pooled and logits asked for, the last layer
 * computes the first token of each text alone, and the language model has no rows to go on with: ask for hidden, too. */
embert_status embert_run(embert_engine* engine, const embert_input* input, embert_output* output);

/** The last hidden state of each token. *hidden points into the arena, [sum of lengths][hidden_size], until the
 * next call with this engine. */
embert_status embert_last_hidden_state(embert_engine* engine, const embert_input* input, const int16_t** hidden,
                            embert_scale* scale);

typedef enum embert_pooling {
  EMBERT_POOLING_MEAN = 0,
  EMBERT_POOLING_CLS = 1,
  EMBERT_POOLING_MAX = 2,
  EMBERT_POOLING_MODEL = 255 /**< what the model was made for */
} embert_pooling;

/** One vector a text: embeddings [batch][hidden_size]. Of length 1 (scale 2^-15) where the model normalises. */
embert_status embert_embed(embert_engine* engine, const embert_input* input, embert_pooling pooling,
                           int16_t* embeddings, embert_scale* scale);

/** The pooler's output, tanh(dense(first token)): pooled [batch][hidden_size]. */
embert_status embert_pooler_output(embert_engine* engine, const embert_input* input, int16_t* pooled, embert_scale* scale);

typedef enum embert_problem {
  EMBERT_PROBLEM_SINGLE_LABEL = 0,
  EMBERT_PROBLEM_MULTI_LABEL = 1,
  EMBERT_PROBLEM_REGRESSION = 2
} embert_problem;

/** Sequence classification: logits [batch][num_labels], of which embert_tasks.h makes scores. */
embert_status embert_classify(embert_engine* engine, const embert_input* input, int32_t* logits,
                              embert_scale* scale);

typedef enum embert_classifier_task {
  EMBERT_CLASSIFIER_SEQUENCE = 0,
  EMBERT_CLASSIFIER_NEXT_SENTENCE = 1,  /**< label 0: the second text follows the first */
  EMBERT_CLASSIFIER_MULTIPLE_CHOICE = 2 /**< one logit a text, compared between the choices of a question */
} embert_classifier_task;

typedef enum embert_token_task {
  EMBERT_TOKENS_LABELS = 0,
  EMBERT_TOKENS_ANSWER = 1 /**< label 0: an answer starts here, 1: it ends here */
} embert_token_task;

/** Logits of the language model over the whole vocabulary, [vocab_size], for one token of the last call: row counts the
 * tokens of all its texts. embert_lm.h has what needs no buffer as large as the vocabulary. */
embert_status embert_lm_logits(embert_engine* engine, uint32_t row, int32_t* logits, embert_scale* scale);

/* ---- Decoders: a cache of keys and values in the arena ------------------------------------------------- */

/** Forgets all tokens of all texts; the next call starts them anew. Encoder states stay. */
embert_status embert_cache_clear(embert_engine* engine);
/** Tokens that a text has in the cache; 0 out of range. */
uint32_t embert_cache_length(const embert_engine* engine, uint32_t text);
/** Text i goes on from what text parents[i] has now, for i < batch: for beam search. What the parent's tokens took from its
 * source stays in them; text i itself goes on with its own source. */
embert_status embert_cache_reorder(embert_engine* engine, const uint32_t* parents, uint32_t batch);
/** Keeps the first length tokens of a text. */
embert_status embert_cache_truncate(embert_engine* engine, uint32_t text, uint32_t length);

/** Encoder states that cross-attention reads from now on: for each text [lengths[i]][cross_hidden_size], one after another.
 * mask [sum of lengths], 0 hides, or null. Text i of later calls attends source i, or source 0 where there is only one.
 * Empties the cache. */
embert_status embert_set_source(embert_engine* engine, const int16_t* states, embert_scale scale,
                                const uint32_t* lengths, uint32_t batch, const uint8_t* mask);
/** A model of two stacks: runs the encoder over the texts and makes their last hidden states the source; a key_mask stays
 * in force. Empties the cache. output may be null; else what it asks for of the encoder (no heads). */
embert_status embert_encode_source(embert_engine* engine, const embert_input* input, embert_output* output);

/* ---- Tokenizer ----------------------------------------------------------------------------------------- */

/** How a text that is too long is cut: from the longer of a pair, or only from the one named. */
typedef enum embert_truncation {
  EMBERT_TRUNCATION_NONE = 0,
  EMBERT_TRUNCATION_LONGEST_FIRST = 1,
  EMBERT_TRUNCATION_ONLY_FIRST = 2,
  EMBERT_TRUNCATION_ONLY_SECOND = 3
} embert_truncation;

typedef struct embert_tokenize_options {
  int32_t max_tokens;           /**< longest result, special tokens included; 0: no limit */
  embert_truncation truncation;
  int32_t stride;               /**< tokens that a window repeats from the one before */
  uint32_t add_special_tokens;  /**< 1: as the model's template says ([CLS] text [SEP]) */
  uint32_t window;              /**< which window of a long text; 0 is what truncation keeps */
} embert_tokenize_options;

/** The model's max_tokens, longest first, special tokens, no stride. A null model gives no limit. */
embert_tokenize_options embert_tokenize_options_default(const embert_model* model);

/** Results. Arrays belong to the caller and may be null; others have room for capacity tokens (offsets for twice as many
 * numbers: start and end). Offsets count from the start of the text that the token is from; special tokens of the
 * template have 0, 0 and word and sequence -1. */
typedef struct embert_tokens {
  size_t capacity;
  int32_t* ids;
  int32_t* type_ids;
  uint32_t* byte_offsets;
  uint32_t* char_offsets;  /**< in Unicode code points */
  int32_t* word_ids;
  int32_t* sequence_ids;
  size_t length;           /**< out: tokens of this window; set with EMBERT_STATUS_BUFFER_TOO_SMALL, too */
  uint32_t windows;        /**< out: windows that the text has; set with EMBERT_STATUS_WINDOW_OUT_OF_RANGE, too */
} embert_tokens;

/** Tokenises a text, or a pair where pair is not null. Texts may hold any bytes; a maximal part that is not UTF-8
 * counts as one U+FFFD, which vanishes. options may be null for the defaults. */
embert_status embert_tokenize(const embert_model* model, const char* text, size_t text_bytes, const char* pair,
                              size_t pair_bytes, const embert_tokenize_options* options,
                              embert_tokens* encoding);

/** The string of a token: UTF-8 in the blob, not terminated. */
embert_status embert_token(const embert_model* model, uint32_t id, const char** string, size_t* bytes);

/* ---- Float helper, for callers with a float unit ------------------------------------------------------- */

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
