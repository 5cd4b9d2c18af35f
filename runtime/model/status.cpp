// SPDX-License-Identifier: Apache-2.0
#include "embert/embert.h"
#include "kernels/dispatch.hpp"

// embert.h repeats the bits of kernels/processor.hpp, because it includes no other header of ours.
static_assert(EMBERT_ISA_SCALAR == embert::kIsaScalar, "pinned value");
static_assert(EMBERT_ISA_AVX2 == embert::kIsaAvx2, "pinned value");
static_assert(EMBERT_ISA_AVXVNNI == embert::kIsaAvxVnni, "pinned value");
static_assert(EMBERT_ISA_AVX512VNNI == embert::kIsaAvx512Vnni, "pinned value");
static_assert(EMBERT_ISA_AVX512_FREE_PIPES == embert::kIsaAvx512FreePipes, "pinned value");
static_assert(EMBERT_ISA_AMXINT8 == embert::kIsaAmxInt8, "pinned value");
static_assert(EMBERT_ISA_NEON == embert::kIsaNeon, "pinned value");
static_assert(EMBERT_ISA_DOTPROD == embert::kIsaDotprod, "pinned value");
static_assert(EMBERT_ISA_I8MM == embert::kIsaI8mm, "pinned value");
static_assert(EMBERT_ISA_MVE == embert::kIsaMve, "pinned value");
static_assert(EMBERT_ISA_DSP == embert::kIsaDsp, "pinned value");
static_assert(EMBERT_ISA_SIMD128 == embert::kIsaSimd128, "pinned value");

const char* embert_status_name(embert_status status) {
  switch (status) {
    case EMBERT_STATUS_OK:
      return "EMBERT_STATUS_OK";
    case EMBERT_STATUS_NULL_ARGUMENT:
      return "EMBERT_STATUS_NULL_ARGUMENT";
    case EMBERT_STATUS_INVALID_OPTION:
      return "EMBERT_STATUS_INVALID_OPTION";
    case EMBERT_STATUS_EMPTY_INPUT:
      return "EMBERT_STATUS_EMPTY_INPUT";
    case EMBERT_STATUS_TOO_MANY_TOKENS:
      return "EMBERT_STATUS_TOO_MANY_TOKENS";
    case EMBERT_STATUS_TOO_MANY_TEXTS:
      return "EMBERT_STATUS_TOO_MANY_TEXTS";
    case EMBERT_STATUS_TOKEN_OUT_OF_RANGE:
      return "EMBERT_STATUS_TOKEN_OUT_OF_RANGE";
    case EMBERT_STATUS_TYPE_OUT_OF_RANGE:
      return "EMBERT_STATUS_TYPE_OUT_OF_RANGE";
    case EMBERT_STATUS_BUFFER_TOO_SMALL:
      return "EMBERT_STATUS_BUFFER_TOO_SMALL";
    case EMBERT_STATUS_TRUNCATION:
      return "EMBERT_STATUS_TRUNCATION";
    case EMBERT_STATUS_WINDOW_OUT_OF_RANGE:
      return "EMBERT_STATUS_WINDOW_OUT_OF_RANGE";
    case EMBERT_STATUS_BLOB_TRUNCATED:
      return "EMBERT_STATUS_BLOB_TRUNCATED";
    case EMBERT_STATUS_BLOB_MISALIGNED:
      return "EMBERT_STATUS_BLOB_MISALIGNED";
    case EMBERT_STATUS_BLOB_MAGIC:
      return "EMBERT_STATUS_BLOB_MAGIC";
    case EMBERT_STATUS_BLOB_VERSION:
      return "EMBERT_STATUS_BLOB_VERSION";
    case EMBERT_STATUS_BLOB_CHECKSUM:
      return "EMBERT_STATUS_BLOB_CHECKSUM";
    case EMBERT_STATUS_BLOB_HEADER:
      return "EMBERT_STATUS_BLOB_HEADER";
    case EMBERT_STATUS_BLOB_SECTION:
      return "EMBERT_STATUS_BLOB_SECTION";
    case EMBERT_STATUS_BLOB_VALUE:
      return "EMBERT_STATUS_BLOB_VALUE";
    case EMBERT_STATUS_BLOB_TOKENIZER:
      return "EMBERT_STATUS_BLOB_TOKENIZER";
    case EMBERT_STATUS_NOT_BUILT:
      return "EMBERT_STATUS_NOT_BUILT";
    case EMBERT_STATUS_ARENA_TOO_SMALL:
      return "EMBERT_STATUS_ARENA_TOO_SMALL";
    case EMBERT_STATUS_ARENA_MISALIGNED:
      return "EMBERT_STATUS_ARENA_MISALIGNED";
    case EMBERT_STATUS_NO_TOKENIZER:
      return "EMBERT_STATUS_NO_TOKENIZER";
    case EMBERT_STATUS_NO_POOLER:
      return "EMBERT_STATUS_NO_POOLER";
    case EMBERT_STATUS_NO_CLASSIFIER:
      return "EMBERT_STATUS_NO_CLASSIFIER";
    case EMBERT_STATUS_LAYOUT:
      return "EMBERT_STATUS_LAYOUT";
    case EMBERT_STATUS_ISA:
      return "EMBERT_STATUS_ISA";
    case EMBERT_STATUS_NO_TOKEN_CLASSIFIER:
      return "EMBERT_STATUS_NO_TOKEN_CLASSIFIER";
    case EMBERT_STATUS_NO_LM:
      return "EMBERT_STATUS_NO_LM";
    case EMBERT_STATUS_NOT_A_DECODER:
      return "EMBERT_STATUS_NOT_A_DECODER";
    case EMBERT_STATUS_NO_CROSS_ATTENTION:
      return "EMBERT_STATUS_NO_CROSS_ATTENTION";
    case EMBERT_STATUS_NO_ENCODER:
      return "EMBERT_STATUS_NO_ENCODER";
    case EMBERT_STATUS_POSITION_OUT_OF_RANGE:
      return "EMBERT_STATUS_POSITION_OUT_OF_RANGE";
    case EMBERT_STATUS_INVALID_MASK:
      return "EMBERT_STATUS_INVALID_MASK";
    case EMBERT_STATUS_CACHE_FULL:
      return "EMBERT_STATUS_CACHE_FULL";
    case EMBERT_STATUS_NO_SOURCE:
      return "EMBERT_STATUS_NO_SOURCE";
    case EMBERT_STATUS_INVALID_SCALE:
      return "EMBERT_STATUS_INVALID_SCALE";
    case EMBERT_STATUS_ROW_OUT_OF_RANGE:
      return "EMBERT_STATUS_ROW_OUT_OF_RANGE";
    case EMBERT_STATUS_NO_MASK_TOKEN:
      return "EMBERT_STATUS_NO_MASK_TOKEN";
    case EMBERT_STATUS_NO_CHOICES:
      return "EMBERT_STATUS_NO_CHOICES";
    case EMBERT_STATUS_NO_SELFTEST:
      return "EMBERT_STATUS_NO_SELFTEST";
    case EMBERT_STATUS_SELFTEST_FAILED:
      return "EMBERT_STATUS_SELFTEST_FAILED";
  }
  return "unknown status";
}

const char* embert_version(void) { return "0.2.0"; }

const char* embert_isa_name(uint32_t isa_mask) { return embert::isa_name(isa_mask); }
