// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/struct_size.hpp"

#include <string.h>

namespace embert {
namespace {

template <typename T, typename Member>
constexpr bool ends_with(size_t offset, Member T::*) {
  return offset + sizeof(Member) == sizeof(T);
}
#define ENDS_WITH(type, member) ends_with(offsetof(type, member), &type::member)
static_assert(ENDS_WITH(embert_options, parallel_context));
static_assert(ENDS_WITH(embert_input, cross_mask));
static_assert(ENDS_WITH(embert_output, cross_attentions));
static_assert(ENDS_WITH(embert_tokenize_options, reserved));
static_assert(ENDS_WITH(embert_tokens, sequence_ids));
static_assert(ENDS_WITH(embert_detokenize_options, clean_up));
static_assert(ENDS_WITH(embert_model_info, has_kernels));
static_assert(ENDS_WITH(embert_stack_info, type_vocab_size));
static_assert(ENDS_WITH(embert_section, bytes));
static_assert(ENDS_WITH(embert_tokenizer_info, reserved));
static_assert(ENDS_WITH(embert_tag_options, ignored));
static_assert(ENDS_WITH(embert_tag_window, is_subword));
static_assert(ENDS_WITH(embert_answer_options, allow_no_answer));
static_assert(ENDS_WITH(embert_answer_window, tokens));
static_assert(ENDS_WITH(embert_sample_options, top_k));
static_assert(ENDS_WITH(embert_source, mask));
static_assert(ENDS_WITH(embert_generate_options, random_context));
static_assert(ENDS_WITH(embert_generation, reserved));
#undef ENDS_WITH

size_t size_of(const void* given) {
  size_t size;
  memcpy(&size, given, sizeof(size));
  return size;
}

size_t smaller_of(size_t a, size_t b) { return a < b ? a : b; }

}  // namespace

namespace struct_size {

embert_status check(const void* given, size_t required, size_t known) {
  const size_t size = size_of(given);
  if (size < required || size > kMaxBytes) return EMBERT_STATUS_INVALID_OPTION;
  const unsigned char* bytes = static_cast<const unsigned char*>(given);
  for (size_t i = known; i < size; ++i) {
    if (bytes[i] != 0) return EMBERT_STATUS_INVALID_OPTION;
  }
  return EMBERT_STATUS_OK;
}

void read(const void* given, void* whole, size_t known) {
  memset(whole, 0, known);
  memcpy(whole, given, smaller_of(size_of(given), known));
  memcpy(whole, &known, sizeof(known));
}

void write(const void* whole, void* given, size_t known) {
  const size_t size = size_of(given), both = smaller_of(size, known);
  unsigned char* bytes = static_cast<unsigned char*>(given);
  memcpy(bytes + sizeof(size), static_cast<const unsigned char*>(whole) + sizeof(size),
         both - sizeof(size));
  memset(bytes + both, 0, size - both);
}

}  // namespace struct_size
}  // namespace embert
