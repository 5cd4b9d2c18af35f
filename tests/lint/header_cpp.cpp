// SPDX-License-Identifier: Apache-2.0
// All public headers together compile as C++ with every warning an error, and their functions have
// C linkage.
#include "embert/embert.h"
#include "embert/embert_host.h"
#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "embert/embert_run.h"
#include "embert/embert_status.h"
#include "embert/embert_tasks.h"
#include "embert/embert_tokenizer.h"
#include "embert/embert_vector.h"

extern "C" float header_c99_scale(embert_scale scale);

int main() {
  const embert_scale one = {0x3F800000u};
  const bool same = header_c99_scale(one) == 1.0f && embert_scale_to_float(one) == 1.0f;
  return same && embert_status_name(EMBERT_STATUS_OK)[0] == 'E' ? 0 : 1;
}
