/* SPDX-License-Identifier: Apache-2.0
 * All public headers together compile as C99 with every warning an error. */
#include "embert/embert.h"
#include "embert/embert_host.h"
#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "embert/embert_run.h"
#include "embert/embert_status.h"
#include "embert/embert_tasks.h"
#include "embert/embert_tokenizer.h"
#include "embert/embert_vector.h"

float header_c99_scale(embert_scale scale);

float header_c99_scale(embert_scale scale) { return embert_scale_to_float(scale); }
