// SPDX-License-Identifier: Apache-2.0
// embert_isa_detect on bare metal: the processor is the one that the build is for.
#include "embert/embert.h"
#include "kernels/dispatch.hpp"

uint32_t embert_isa_detect(void) { return embert::compiled_isas(); }
