/* SPDX-License-Identifier: Apache-2.0
 * The functions of string.h that the runtime calls, for a target without a C library. */
#ifndef EMBERT_WEB_STRING_H_
#define EMBERT_WEB_STRING_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void* memcpy(void* to, const void* from, size_t bytes);
void* memmove(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);
int memcmp(const void* a, const void* b, size_t bytes);
size_t strlen(const char* text);

#ifdef __cplusplus
}
#endif

#endif /* EMBERT_WEB_STRING_H_ */
