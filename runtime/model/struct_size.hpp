// SPDX-License-Identifier: Apache-2.0
// Structs of the public headers that can grow: their first member, size, is sizeof the struct as
// the caller's compiler saw it. The library reads and writes that many bytes, so that a program
// compiled against a shorter struct of an earlier version still runs. The rule is that of Linux's
// copy_struct_from_user (lib/usercopy.c), whose callers refuse a size of more than a page. So does
// this: such a size was never set, and that many bytes lead out of the caller's memory.
//
// To add a member: at the end, behind "optional", with zero as "not used". A struct must end with
// its last member on machines of 32 and of 64 bits (add a reserved one): padding has any value.
#pragma once

#include <stddef.h>

#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "embert/embert_run.h"
#include "embert/embert_tokenizer.h"

namespace embert {

/// Where a struct's optional members begin: the smallest size that is taken.
template <typename T>
inline constexpr size_t kRequiredBytes = sizeof(T);
template <>
inline constexpr size_t kRequiredBytes<embert_options> = offsetof(embert_options, parallel_for);
template <>
inline constexpr size_t kRequiredBytes<embert_input> = offsetof(embert_input, type_ids);
template <>
inline constexpr size_t kRequiredBytes<embert_output> = offsetof(embert_output, hidden);
template <>
inline constexpr size_t kRequiredBytes<embert_tokens> = offsetof(embert_tokens, type_ids);
template <>
inline constexpr size_t kRequiredBytes<embert_detokenize_options> =
    offsetof(embert_detokenize_options, skip_special);
template <>
inline constexpr size_t kRequiredBytes<embert_model_info> = offsetof(embert_model_info, num_stacks);
template <>
inline constexpr size_t kRequiredBytes<embert_stack_info> = offsetof(embert_stack_info,
                                                                     hidden_size);
template <>
inline constexpr size_t kRequiredBytes<embert_section> = offsetof(embert_section, name);
template <>
inline constexpr size_t kRequiredBytes<embert_tokenizer_info> = offsetof(embert_tokenizer_info,
                                                                         token_count);
template <>
inline constexpr size_t kRequiredBytes<embert_tag_options> = offsetof(embert_tag_options, ignored);
template <>
inline constexpr size_t kRequiredBytes<embert_tag_window> = offsetof(embert_tag_window, is_subword);
template <>
inline constexpr size_t kRequiredBytes<embert_answer_options> = offsetof(embert_answer_options,
                                                                         align_to_words);
template <>
inline constexpr size_t kRequiredBytes<embert_sample_options> = offsetof(embert_sample_options,
                                                                         top_k);
template <>
inline constexpr size_t kRequiredBytes<embert_source> = offsetof(embert_source, mask);
template <>
inline constexpr size_t kRequiredBytes<embert_generate_options> = offsetof(embert_generate_options,
                                                                           random);

/// The bytes of a struct that caller and library both know, and those that one alone knows.
namespace struct_size {
/// The longest struct that is taken.
inline constexpr size_t kMaxBytes = 4096;
/// INVALID_OPTION for a size below `required` or above kMaxBytes, and for bytes behind `known` that
/// are not zero.
embert_status check(const void* given, size_t required, size_t known);
/// whole [known] = the given bytes, then zeros; its size is `known`.
void read(const void* given, void* whole, size_t known);
/// The given struct = the bytes of whole [known] that it has; it keeps its size.
void write(const void* whole, void* given, size_t known);
}  // namespace struct_size

template <typename T>
embert_status check_struct(const T& given) {
  return struct_size::check(&given, kRequiredBytes<T>, sizeof(T));
}

/// A checked copy of a caller's struct, in its full length.
template <typename T>
embert_status read_struct(const T& given, T* whole) {
  const embert_status status = check_struct(given);
  if (status == EMBERT_STATUS_OK) struct_size::read(&given, whole, sizeof(T));
  return status;
}

/// Writes a struct of results into a checked one of the caller's.
template <typename T>
void write_struct(const T& whole, T* given) {
  struct_size::write(&whole, given, sizeof(T));
}

/// Sets a caller's struct, of which only the size counts, to defaults.
template <typename T>
embert_status init_struct(const T& defaults, T* given) {
  if (given->size < kRequiredBytes<T> || given->size > struct_size::kMaxBytes) {
    return EMBERT_STATUS_INVALID_OPTION;
  }
  write_struct(defaults, given);
  return EMBERT_STATUS_OK;
}

/// use(T&) with a copy in full length, of which results go back. Not inlined: callers with a
/// struct in full length shall not have the copy on their stack.
template <typename T, typename Use>
[[gnu::noinline]] embert_status use_copy(T& given, const Use& use) {
  T whole;
  struct_size::read(&given, &whole, sizeof(T));
  const embert_status status = use(whole);
  write_struct(whole, &given);
  return status;
}
template <typename T, typename Use>
[[gnu::noinline]] embert_status use_copy(const T& given, const Use& use) {
  T whole;
  struct_size::read(&given, &whole, sizeof(T));
  return use(whole);
}

/// use(T&) with a caller's struct in full length: the struct itself, or a copy where it is shorter.
template <typename T, typename Use>
embert_status with_whole(T& given, const Use& use) {
  const embert_status status = check_struct(given);
  if (status != EMBERT_STATUS_OK) return status;
  return given.size >= sizeof(T) ? use(given) : use_copy(given, use);
}

}  // namespace embert
