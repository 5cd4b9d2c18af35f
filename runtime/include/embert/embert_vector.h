/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors of texts: normalise, shrink to bytes or bits, compare.
 *
 * This header is for you if you store or search what embert_embed_text gives. Its functions run no
 * model, keep no state and give the same bits everywhere. n is the number of values, 1 to 2^31;
 * with fewer than embert_vector_size they work on the vector's first dimensions (Matryoshka).
 * Statuses: NULL_ARGUMENT, EMPTY_INPUT for n = 0, INVALID_OPTION for n above 2^31.
 */
#ifndef EMBERT_EMBERT_VECTOR_H_
#define EMBERT_EMBERT_VECTOR_H_

#include <stddef.h>
#include <stdint.h>

#include "embert/embert_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** unit = v / |v| in units of 2^-15, within one unit; may be v. A zero vector stays zero. */
embert_status embert_normalize_int16(const int16_t* v, size_t n, int16_t* unit);

/** bytes = v * 127 / (largest magnitude), rounded half away from zero. A zero vector stays zero. */
embert_status embert_quantize_int8(const int16_t* v, size_t n, int8_t* bytes);
/** One bit a value, 1 where it is above 0. Value c is bit 7 - c % 8 of byte c / 8; bits behind the
 * last are 0. */
embert_status embert_quantize_bits(const int16_t* v, size_t n, uint8_t* bits);

/** Cosine in units of 2^-30, within 3e-7; 0 where a vector is zero. */
embert_status embert_cosine_int16(const int16_t* a, const int16_t* b, size_t n,
                                  int32_t* cosine_q30);
embert_status embert_cosine_int8(const int8_t* a, const int8_t* b, size_t n, int32_t* cosine_q30);
/** How many of the first n bits differ. */
embert_status embert_hamming(const uint8_t* a, const uint8_t* b, size_t n, uint32_t* distance);

/** For callers with a float unit. */
static inline float embert_cosine_to_float(int32_t cosine_q30) {
#ifdef __cplusplus
  return static_cast<float>(cosine_q30) / 1073741824.0f;
#else
  return (float)cosine_q30 / 1073741824.0f;
#endif
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EMBERT_EMBERT_VECTOR_H_ */
