/* SPDX-License-Identifier: Apache-2.0
 *
 * embert tasks: from a model's outputs to the answer of a task, in integers, without a float unit.
 *
 *   classify    embert_rank_labels
 *   tag         embert_softmax_q30 and embert_find_entities for each window, embert_merge_entities
 *   answer      embert_answers_begin, embert_answers_add for each window, embert_answers_finish
 *   fill-mask   embert_top_candidates; for given words embert_score_candidates, embert_rank_candidates
 *   generate    embert_top_candidates, embert_sample_candidate, embert_detokenize
 *   embed       embert_normalize_int16, embert_quantize_*, embert_cosine_*, embert_hamming
 *
 * Functions of numbers: they run no model, keep no state, allocate nothing and give the same bits everywhere. They
 * decide as the pipelines of Hugging Face transformers 4.44 do; runtime/tasks/README.md says where not.
 * Logits are int32, real = logit * scale, with a scale that is a positive normal float32. Arrays belong to the caller.
 * Statuses: NULL_ARGUMENT for a null pointer, EMPTY_INPUT for nothing to work on, INVALID_OPTION for what is out of
 * range; with BUFFER_TOO_SMALL the room that is needed stands where the size of the result would.
 */
#ifndef EMBERT_EMBERT_TASKS_H_
#define EMBERT_EMBERT_TASKS_H_

#include <stddef.h>
#include <stdint.h>

#include "embert/embert.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Scores -------------------------------------------------------------------------------------------- */

/** A probability in units of 2^-30. Computed ones are within 2^-30 + p * 3e-8 of the true p. */
typedef uint32_t embert_q30;
#define EMBERT_Q30_ONE 1073741824u

/** The base-2 logarithm of a probability in units of 2^-26, 0 or less: for what is too small for embert_q30, and to
 * be added where probabilities are multiplied. That of one probability is above -2^41. */
typedef int64_t embert_log2_q26;

/** 2^log2_score; 1 for logarithms above 0. */
embert_q30 embert_q30_of_log2(embert_log2_q26 log2_score);

/** Softmax of each row: scores [rows][n], which may be the memory of logits. n up to 2^23. */
embert_status embert_softmax_q30(const int32_t* logits, size_t rows, size_t n, embert_scale scale, embert_q30* scores);
/** 1 / (1 + e^-x) of each logit: scores [n], which may be the memory of logits. */
embert_status embert_sigmoid_q30(const int32_t* logits, size_t n, embert_scale scale, embert_q30* scores);
/** The indices of the k largest values, largest first, of equal ones the lowest index first: *count = min(k, n). n up
 * to 2^31. Scores of a row are in the order of their logits. */
embert_status embert_top_k(const int32_t* values, size_t n, size_t k, uint32_t* indices, size_t* count);

/* ---- Classification: labels, choices, next sentence, pairs ----------------------------------------------- */

typedef enum embert_score_function {
  EMBERT_SCORE_SOFTMAX = 0,
  EMBERT_SCORE_SIGMOID = 1,
  EMBERT_SCORE_NONE = 2 /**< the logit is the answer; scores are 0 */
} embert_score_function;

/** What the pipeline takes by default: sigmoid for a multi-label model and for a single label (also of a regression
 * head, where NONE is what one wants), else softmax. */
embert_score_function embert_default_score_function(embert_problem problem, uint32_t num_labels);

typedef struct embert_label_score {
  uint32_t label;
  int32_t logit;
  embert_q30 score;
} embert_label_score;

/** The top_k best labels (0: all), best first, of equal logits the first label first. *count: how many. */
embert_status embert_rank_labels(const int32_t* logits, size_t num_labels, embert_scale scale,
                                 embert_score_function function, size_t top_k, embert_label_score* labels,
                                 size_t capacity, size_t* count);

/* ---- Token classification -------------------------------------------------------------------------------- */

/** How tokens become entities. NONE: each token is one. Else neighbours of the same kind are one, and a label B-x
 * begins a new one. Neighbours are tokens (SIMPLE), or words with the label of their first token (FIRST), with the
 * label of the highest mean score (AVERAGE), or with that of the token with the highest score (MAX). An entity's score
 * is the mean over its tokens or words. */
typedef enum embert_aggregation {
  EMBERT_AGGREGATION_NONE = 0,
  EMBERT_AGGREGATION_SIMPLE = 1,
  EMBERT_AGGREGATION_FIRST = 2,
  EMBERT_AGGREGATION_AVERAGE = 3,
  EMBERT_AGGREGATION_MAX = 4
} embert_aggregation;

typedef struct embert_tag_options {
  const char* const* labels; /**< [num_labels] names such as "O", "B-person" */
  size_t num_labels;
  embert_aggregation aggregation;
  const char* ignored; /**< label (NONE) or group that gives no entity, usually "O"; null: there is none */
} embert_tag_options;

/** One window of a text. All but the scores is what embert_tokenize gives. */
typedef struct embert_tag_window {
  const embert_q30* scores;     /**< [tokens][num_labels]: embert_softmax_q30 of the logits */
  const int32_t* word_ids;      /**< [tokens]; negative: a special token, which is left out */
  const uint8_t* is_subword;    /**< [tokens] 1: goes on with the word before it. Null: as word_ids say */
  const uint32_t* byte_offsets; /**< [2 * tokens] start, end */
  const uint32_t* char_offsets; /**< [2 * tokens] */
  size_t tokens;
  uint32_t window; /**< the caller's number of it */
} embert_tag_window;

typedef struct embert_entity {
  uint32_t label; /**< of the first token or word; embert_label_group of its name is the entity's kind */
  embert_q30 score;
  uint32_t window;
  uint32_t first_token, last_token; /**< in the window */
  int32_t first_word, last_word;
  uint32_t byte_begin, byte_end;
  uint32_t char_begin, char_end;
} embert_entity;

/** A label's name behind its first '-' ("B-person": "person"), or all of it. */
const char* embert_label_group(const char* label);

/** Writes the entities of a window behind the *count that are there, and counts them in. With BUFFER_TOO_SMALL *count
 * is the room needed for the windows so far, and the array holds those that fit. */
embert_status embert_find_entities(const embert_tag_options* options, const embert_tag_window* window,
                                   embert_entity* entities, size_t capacity, size_t* count);
/** Makes entities of overlapping windows those of the text: sorted by their beginning; of two that overlap the longer
 * stays, of equally long ones that with the higher score. Not for texts with one window. */
embert_status embert_merge_entities(embert_entity* entities, size_t* count);

/** The pipeline's notion of a word, for embert_tag_window.is_subword: a token goes on with a word where its string and
 * its piece of the text differ in their number of characters; [UNK] never does. Wrong where normalising changed the
 * length (a letter that lost a combining accent), which word_ids are not. */
embert_status embert_mark_subwords(const embert_model* model, const int32_t* ids, const uint32_t* char_offsets,
                                   size_t tokens, uint8_t* is_subword);

/* ---- Question answering ---------------------------------------------------------------------------------- */

typedef struct embert_answer_options {
  uint32_t max_answer_tokens; /**< 1 and up */
  uint32_t align_to_words;    /**< 1: offsets are widened to whole words */
  uint32_t allow_no_answer;   /**< 1: that there is none is an answer, too */
} embert_answer_options;

/** 15 tokens, aligned to words, always an answer. */
embert_answer_options embert_answer_options_default(void);

/** One window [CLS] question [SEP] context [SEP]. All but the logits is what embert_tokenize gives. */
typedef struct embert_answer_window {
  const int32_t* logits;        /**< [tokens][2]: an answer starts, ends with this token */
  const int32_t* sequence_ids;  /**< [tokens]; 1: the context; negative at the first token, [CLS] */
  const int32_t* word_ids;      /**< [tokens] */
  const uint32_t* byte_offsets; /**< [2 * tokens] start, end */
  const uint32_t* char_offsets; /**< [2 * tokens] */
  size_t tokens;
  uint32_t window; /**< the caller's number of it */
} embert_answer_window;

typedef struct embert_answer {
  embert_log2_q26 log2_score; /**< probability of the start times that of the end, both within the window */
  embert_q30 score;
  uint32_t is_no_answer; /**< 1: all below is 0 */
  uint32_t window;
  uint32_t first_token, last_token; /**< in the window, before the widening */
  uint32_t byte_begin, byte_end;    /**< in the context */
  uint32_t char_begin, char_end;
} embert_answer;

/** The best answers of the windows so far, best first: answers [count]. The other members are not the caller's. */
typedef struct embert_answers {
  embert_answer* answers;
  size_t capacity;
  size_t count;
  embert_scale scale;
  embert_answer_options options;
  embert_log2_q26 no_answer;
  uint32_t windows;
} embert_answers;

/** Begins without a window. answers: room for capacity, as many as are wanted, 1 and up. Null options: the defaults. */
embert_status embert_answers_begin(embert_answers* list, const embert_answer_options* options, embert_scale scale,
                                   embert_answer* answers, size_t capacity);
/** Takes in a window, in time of tokens * max_answer_tokens. EMPTY_INPUT: it has no token of the context. */
embert_status embert_answers_add(embert_answers* list, const embert_answer_window* window);
/** Puts "no answer" in its place where it is allowed: its score is the lowest that a window gives it. EMPTY_INPUT: no
 * window was added. */
embert_status embert_answers_finish(embert_answers* list);

/* ---- Words of a vocabulary: masked words, generation ------------------------------------------------------ */

typedef struct embert_candidate {
  int32_t id;
  int32_t logit;
  embert_q30 score; /**< in the whole vocabulary */
  embert_log2_q26 log2_score;
} embert_candidate;

/** The denominator of a softmax: log2 of the sum of e^(logit * scale) is highest * scale * log2(e) + log2_sum. */
typedef struct embert_log_sum {
  int32_t highest;
  uint32_t log2_sum_q26;
} embert_log_sum;

/** The top_k best of a vocabulary's logits [n], n up to 2^23, best first, of equal logits the lowest id first:
 * *count = min(top_k, n). log_sum may be null. */
embert_status embert_top_candidates(const int32_t* logits, size_t n, embert_scale scale, size_t top_k,
                                    embert_candidate* candidates, size_t* count, embert_log_sum* log_sum);
/** Fills in the scores of candidates that have a logit, which is not above log_sum->highest. */
embert_status embert_score_candidates(embert_candidate* candidates, size_t n, const embert_log_sum* log_sum,
                                      embert_scale scale);
/** Sorts candidates by logit, of equal ones the lowest id first, and drops ids that come again: *count in and out. */
embert_status embert_rank_candidates(embert_candidate* candidates, size_t* count);

/** Logits are divided by the temperature; then the top_k best stay, and of those the fewest that reach top_p. */
typedef struct embert_sample_options {
  uint32_t temperature_q16; /**< in units of 2^-16, 1 and up; 65536 changes nothing */
  embert_q30 top_p;         /**< 1 and up; EMBERT_Q30_ONE: all */
  size_t top_k;             /**< 0: all candidates */
} embert_sample_options;

/** Draws one of the candidates [n], sorted, best first, n up to 65536. random: 32 bits of the caller; the same bits
 * give the same *index. The greedy choice needs no function: it is index 0. */
embert_status embert_sample_candidate(const embert_candidate* candidates, size_t n, embert_scale scale,
                                      const embert_sample_options* options, uint32_t random, size_t* index);

/* ---- Text of tokens --------------------------------------------------------------------------------------- */

typedef struct embert_detokenize_options {
  uint32_t skip_special; /**< 1: without the model's [CLS], [SEP], [PAD], [MASK] and [UNK] */
  uint32_t clean_up;     /**< 1: no blanks around apostrophes, either ("don't" for don ' t) */
} embert_detokenize_options;

/** Text of tokens: pieces of a word joined, words with a blank between, none before . ? ! and a comma. UTF-8, *bytes
 * long, not terminated. With BUFFER_TOO_SMALL *bytes may be a few more than the text has in the end. Null options:
 * both 0. */
embert_status embert_detokenize(const embert_model* model, const int32_t* ids, size_t count,
                                const embert_detokenize_options* options, char* text, size_t capacity, size_t* bytes);

/* ---- Vectors ---------------------------------------------------------------------------------------------- */

/* n is 1 to 2^31. Fewer than the model's hidden size take the vector's first dimensions (Matryoshka). */

/** unit = v / |v| in units of 2^-15, within one unit; may be v. A zero vector stays zero. */
embert_status embert_normalize_int16(const int16_t* v, size_t n, int16_t* unit);
/** bytes = v * 127 / (largest magnitude), rounded half away from zero. A zero vector stays zero. */
embert_status embert_quantize_int8(const int16_t* v, size_t n, int8_t* bytes);
/** One bit a value, 1 where it is above 0. Value c is bit 7 - c % 8 of byte c / 8; bits behind the last are 0. */
embert_status embert_quantize_bits(const int16_t* v, size_t n, uint8_t* bits);

/** Cosine in units of 2^-30, within 3e-7; 0 where a vector is zero. */
embert_status embert_cosine_int16(const int16_t* a, const int16_t* b, size_t n, int32_t* cosine_q30);
embert_status embert_cosine_int8(const int8_t* a, const int8_t* b, size_t n, int32_t* cosine_q30);
/** How many of the first n bits differ. */
embert_status embert_hamming(const uint8_t* a, const uint8_t* b, size_t n, uint32_t* distance);

/* ---- Float helpers, for callers with a float unit --------------------------------------------------------- */

#ifdef __cplusplus
#define EMBERT_FLOAT(x) static_cast<float>(x)
#else
#define EMBERT_FLOAT(x) ((float)(x))
#endif

static inline float embert_q30_to_float(embert_q30 score) { return EMBERT_FLOAT(score) / 1073741824.0f; }
/** Of a cosine. */
static inline float embert_signed_q30_to_float(int32_t value) { return EMBERT_FLOAT(value) / 1073741824.0f; }
/** The natural logarithm. */
static inline float embert_log2_to_float(embert_log2_q26 log2_score) {
  return EMBERT_FLOAT(log2_score) * (0.693147181f / 67108864.0f);
}
#undef EMBERT_FLOAT

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EMBERT_EMBERT_TASKS_H_ */
