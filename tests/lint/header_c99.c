/* SPDX-License-Identifier: Apache-2.0
 * The public headers compile as C99 with every warning an error. */
#include "embert/embert.h"
#include "embert/embert_host.h"
#include "embert/embert_lm.h"
#include "embert/embert_tasks.h"

float header_c99_scale(embert_scale scale);

float header_c99_scale(embert_scale scale) { return embert_scale_to_float(scale); }
