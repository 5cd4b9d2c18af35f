/* SPDX-License-Identifier: Apache-2.0
 *
 * embert tasks: from logits to the answer of a task, in integers, without a float unit.
 *
 *   classify    embert_rank_labels
 *   tag         embert_softmax_q30 and embert_find_entities for each window, embert_merge_entities
 *   answer      embert_answers_begin, embert_answers_add for each window, embert_answers_finish
 *   fill-mask   embert_top_candidates; for given tokens embert_score_candidates and
 *               embert_rank_candidates
 *   generate    embert_top_candidates, embert_sample_candidate
 *
 * This header is for you if embert_run.h or embert_lm.h gave you logits. Its functions run no
 * model, keep no state, do not allocate and give the same bits everywhere. They decide as the
 * pipelines of Hugging Face transformers 4.44 do; runtime/tasks/README.md lists the differences.
 * Logits are int32, real = logit * scale, with a scale that is a positive normal float32. Arrays
 * are yours. Statuses: NULL_ARGUMENT for a null pointer, EMPTY_INPUT for nothing to work on,
 * INVALID_OPTION for values out of range; with BUFFER_TOO_SMALL the size of the result is the room
 * that is needed.
 */
#ifndef EMBERT_EMBERT_TASKS_H_
#define EMBERT_EMBERT_TASKS_H_

#include "embert/embert.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Scores ---------------------------------------------------------------------------------- */

/* Computed probabilities embert_q30 are within 2^-30 + p * 3e-8 of the true p. */

/** The base-2 logarithm of a probability in units of 2^-26, 0 or less: for probabilities too small
 * for embert_q30, and to be added where probabilities are multiplied. That of one probability is
 * above -2^41. */
typedef int64_t embert_log2_q26;

/** 2^log2_score; 1 for logarithms above 0. */
embert_q30 embert_q30_of_log2(embert_log2_q26 log2_score);

/** Softmax of each row: scores [rows][n], which may be the memory of logits. n up to 2^23. */
embert_status embert_softmax_q30(const int32_t* logits, size_t rows, size_t n, embert_scale scale,
                                 embert_q30* scores);
/** 1 / (1 + e^-x) of each logit: scores [n], which may be the memory of logits. */
embert_status embert_sigmoid_q30(const int32_t* logits, size_t n, embert_scale scale,
                                 embert_q30* scores);
/** The indices of the k largest values, largest first, of equal ones the lowest index first:
 * *count = min(k, n). n up to 2^31. Scores of a row are in the order of their logits. */
embert_status embert_top_k(const int32_t* values, size_t n, size_t k, uint32_t* indices,
                           size_t* count);

/** One row of logits. */
typedef struct embert_logits {
  const int32_t* values; /**< [count] */
  size_t count;          /**< up to 2^23 */
  embert_scale scale;
} embert_logits;

/* ---- Classification: labels, choices, next sentence, pairs ----------------------------------- */

typedef enum embert_problem EMBERT_ENUM_TYPE {
  EMBERT_PROBLEM_SINGLE_LABEL = 0,
  EMBERT_PROBLEM_MULTI_LABEL = 1,
  EMBERT_PROBLEM_REGRESSION = 2
} embert_problem;

typedef enum embert_score_function EMBERT_ENUM_TYPE {
  EMBERT_SCORE_SOFTMAX = 0,
  EMBERT_SCORE_SIGMOID = 1,
  EMBERT_SCORE_NONE = 2 /**< the logit is the answer; scores are 0 */
} embert_score_function;

/** The pipeline's default: sigmoid for a multi-label model and for a single label (also of a
 * regression head, for which you want NONE), none for a regression of several values, else
 * softmax. */
embert_score_function embert_default_score_function(embert_problem problem, uint32_t num_labels);

/** The top_k best labels (0: all), best first, of equal logits the first label first. labels->count
 * is how many, labels->scale that of the logits. */
embert_status embert_rank_labels(const embert_logits* logits, embert_score_function function,
                                 size_t top_k, embert_labels* labels);

/* ---- Token classification -------------------------------------------------------------------- */

/** How tokens become entities. NONE: each token is one. Else neighbours of the same kind are one,
 * and a label B-x begins a new one. Neighbours are tokens (SIMPLE), or words with the label of
 * their first token (FIRST), with the label of the highest mean score (AVERAGE), or with that of
 * the token with the highest score (MAX). An entity's score is the mean over its tokens or
 * words. */
typedef enum embert_aggregation EMBERT_ENUM_TYPE {
  EMBERT_AGGREGATION_NONE = 0,
  EMBERT_AGGREGATION_SIMPLE = 1,
  EMBERT_AGGREGATION_FIRST = 2,
  EMBERT_AGGREGATION_AVERAGE = 3,
  EMBERT_AGGREGATION_MAX = 4
} embert_aggregation;

typedef struct embert_tag_options {
  size_t size;               /**< sizeof(embert_tag_options) */
  const char* const* labels; /**< [num_labels] names such as "O", "B-person" */
  size_t num_labels;
  uint32_t aggregation; /**< embert_aggregation */
  /* ---- optional ---- */
  const char* ignored; /**< label (NONE) or group that gives no entity, usually "O"; null: none */
} embert_tag_options;

/** One window of a text. embert_tokenize gives all but the scores. */
typedef struct embert_tag_window {
  size_t size;                  /**< sizeof(embert_tag_window) */
  const embert_q30* scores;     /**< [tokens][num_labels]: embert_softmax_q30 of the logits */
  const int32_t* word_ids;      /**< [tokens]; negative: a special token, which is left out */
  const uint32_t* byte_offsets; /**< [tokens][2] start, end */
  const uint32_t* char_offsets; /**< [tokens][2] */
  size_t tokens;
  uint32_t window; /**< your number of it */
  /* ---- optional ---- */
  const uint8_t* is_subword; /**< [tokens] 1: continues the word before it; null: where the word
                                 * id is that of the token before it */
} embert_tag_window;

/** Never changes, as arrays of it are yours. */
typedef struct embert_entity {
  uint32_t label; /**< of the first token or word; its group is the kind of entity */
  embert_q30 score;
  uint32_t window;
  uint32_t first_token, last_token; /**< in the window */
  int32_t first_word, last_word;
  uint32_t byte_begin, byte_end;
  uint32_t char_begin, char_end;
} embert_entity;

/** A label's name behind its first '-' ("B-person": "person"), or all of it. */
const char* embert_label_group(const char* label);

/** Appends the entities of a window to the *count that are there, and adds their number to *count.
 * With BUFFER_TOO_SMALL *count is the room needed for the windows so far, and the array holds those
 * that fit. */
embert_status embert_find_entities(const embert_tag_options* options,
                                   const embert_tag_window* window, embert_entity* entities,
                                   size_t capacity, size_t* count);
/** Makes entities of overlapping windows those of the text, sorted by their beginning. Of two that
 * overlap the longer stays, of equally long ones that with the higher score. Not for texts with one
 * window. */
embert_status embert_merge_entities(embert_entity* entities, size_t* count);

/** The pipeline's notion of a word, for embert_tag_window.is_subword: a token continues a word
 * where its string and its piece of the text differ in their number of characters; [UNK] never
 * does. Wrong where normalising changed the length (a letter that lost a combining accent);
 * word_ids are right there, too. With BPE and Unigram a token continues a word unless it begins
 * with a space, or stands behind one or at the start of the text. ids [tokens], char_offsets
 * [tokens][2], is_subword [tokens]. */
embert_status embert_mark_subwords(const embert_model* model, const int32_t* ids,
                                   const uint32_t* char_offsets, size_t tokens,
                                   uint8_t* is_subword);

/* ---- Question answering ---------------------------------------------------------------------- */

typedef struct embert_answer_options {
  size_t size;              /**< sizeof(embert_answer_options) */
  size_t max_answer_tokens; /**< 1 and up */
  /* ---- optional ---- */
  uint32_t align_to_words;  /**< 1: offsets are widened to whole words */
  uint32_t allow_no_answer; /**< 1: "no answer" is an answer, too */
} embert_answer_options;

/** Sets the members that options->size covers: 15 tokens, aligned to words, always an answer. */
embert_status embert_answer_options_init(embert_answer_options* options);

static inline embert_answer_options embert_answer_options_default(void) {
  embert_answer_options options;
  options.size = sizeof(options);
  embert_answer_options_init(&options);
  return options;
}

/** One window [CLS] question [SEP] context [SEP]. embert_tokenize gives all but the logits. */
typedef struct embert_answer_window {
  size_t size;                  /**< sizeof(embert_answer_window) */
  const int32_t* logits;        /**< [tokens][2]: an answer starts, ends with this token */
  const int32_t* sequence_ids;  /**< [tokens]; 1: the context; negative at the first token, [CLS] */
  const int32_t* word_ids;      /**< [tokens] */
  const uint32_t* byte_offsets; /**< [tokens][2] start, end */
  const uint32_t* char_offsets; /**< [tokens][2] */
  uint32_t window;              /**< your number of it */
  size_t tokens;
} embert_answer_window;

/** Never changes, as arrays of it are yours. */
typedef struct embert_answer {
  embert_log2_q26 log2_score; /**< P(start) * P(end), both within the window */
  embert_q30 score;
  uint32_t is_no_answer; /**< 1: all below is 0 */
  uint32_t window;
  uint32_t first_token, last_token; /**< in the window, before the widening */
  uint32_t byte_begin, byte_end;    /**< in the context */
  uint32_t char_begin, char_end;
} embert_answer;

/** The best answers of the windows so far, best first. Each place of the context stands there once,
 * with the best score of the windows and of the spans that are widened to it. Never changes. */
typedef struct embert_answers {
  embert_answer* answers; /**< [count] */
  size_t capacity;
  size_t count;
  uint64_t opaque[8];
} embert_answers;

/** Begins without a window. answers: room for capacity, as many as you want, 1 and up. Null
 * options: the defaults. */
embert_status embert_answers_begin(embert_answers* list, const embert_answer_options* options,
                                   embert_scale scale, embert_answer* answers, size_t capacity);
/** Takes in a window, in time of tokens * max_answer_tokens. EMPTY_INPUT: it has no token of the
 * context. */
embert_status embert_answers_add(embert_answers* list, const embert_answer_window* window);
/** Where "no answer" is allowed, ranks it among the others with the lowest score that a window
 * gives it. EMPTY_INPUT: no window was added. */
embert_status embert_answers_finish(embert_answers* list);

/* ---- Tokens of a vocabulary: masked tokens, generation --------------------------------------- */

/** Never changes, as arrays of it are yours. */
typedef struct embert_candidate {
  int32_t id;
  int32_t logit;
  embert_q30 score; /**< in the whole vocabulary */
  embert_log2_q26 log2_score;
} embert_candidate;

/** A list of candidates, usually best first. Never changes. */
typedef struct embert_candidates {
  embert_candidate* items; /**< [capacity] of yours */
  size_t capacity;
  size_t count;
} embert_candidates;

/** The denominator of a softmax: log2 of the sum of e^(logit * scale) is
 * highest * scale * log2(e) + log2_sum. */
typedef struct embert_log_sum {
  int32_t highest;
  uint32_t log2_sum_q26;
} embert_log_sum;

/** The best of a vocabulary's logits, best first, of equal logits the lowest id first:
 * best->count = min(best->capacity, logits->count); a capacity of 0 is an INVALID_OPTION. log_sum
 * may be null. */
embert_status embert_top_candidates(const embert_logits* logits, embert_candidates* best,
                                    embert_log_sum* log_sum);
/** Fills in the scores of candidates [count] from their logits, which are not above
 * log_sum->highest. */
embert_status embert_score_candidates(embert_candidates* candidates, const embert_log_sum* log_sum,
                                      embert_scale scale);
/** Sorts candidates by logit, of equal ones the lowest id first, and drops repeated ids: count in
 * and out. */
embert_status embert_rank_candidates(embert_candidates* candidates);

/** Logits are divided by the temperature; then the top_k best stay, and of those the fewest that
 * reach top_p. */
typedef struct embert_sample_options {
  size_t size;              /**< sizeof(embert_sample_options) */
  uint32_t temperature_q16; /**< in units of 2^-16, 1 and up; 65536 changes nothing */
  embert_q30 top_p;         /**< 1 and up; EMBERT_Q30_ONE: all */
  /* ---- optional ---- */
  size_t top_k; /**< 0: all candidates */
} embert_sample_options;

/** Sets the members that options->size covers: temperature 1, top_p 1, top_k 50. */
embert_status embert_sample_options_init(embert_sample_options* options);

static inline embert_sample_options embert_sample_options_default(void) {
  embert_sample_options options;
  options.size = sizeof(options);
  embert_sample_options_init(&options);
  return options;
}

/** Draws one of the candidates, which are sorted, best first, up to 65536. random: 32 bits of
 * yours; the same bits give the same *index. The greedy choice is index 0. */
embert_status embert_sample_candidate(const embert_candidates* candidates, embert_scale scale,
                                      const embert_sample_options* options, uint32_t random,
                                      size_t* index);

/* ---- For callers with a float unit ----------------------------------------------------------- */

#ifdef __cplusplus
#define EMBERT_FLOAT(x) static_cast<float>(x)
#else
#define EMBERT_FLOAT(x) ((float)(x))
#endif

static inline float embert_q30_to_float(embert_q30 score) {
  return EMBERT_FLOAT(score) / 1073741824.0f;
}
/** The natural logarithm. */
static inline float embert_log2_to_float(embert_log2_q26 log2_score) {
  return EMBERT_FLOAT(log2_score) * (0.693147181f / 67108864.0f);
}
#undef EMBERT_FLOAT

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EMBERT_EMBERT_TASKS_H_ */
