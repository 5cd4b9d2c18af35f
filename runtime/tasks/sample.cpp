// SPDX-License-Identifier: Apache-2.0
// Draws the next token of a text: temperature, then top-k, then nucleus sampling (Holtzman et al.
// 2019).
#include "runtime/model/struct_size.hpp"
#include "runtime/tasks/fixed_math.hpp"

namespace embert {
namespace {

constexpr size_t kMaxCandidates = 65536;

/// x * fraction / 2^32, x < 2^57.
uint64_t part_of(uint64_t x, uint32_t fraction) {
  return (x >> 32) * fraction + (((x & 0xffffffff) * fraction) >> 32);
}

/// Weights of candidates relative to the best one, which has weight 1.
struct Weights {
  const embert_candidate* candidates;
  LogitRatio ratio;
  uint32_t temperature_q16;

  uint64_t operator[](size_t i) const {
    const uint64_t octaves =
        octaves_q26(logit_distance(candidates[0].logit, candidates[i].logit), ratio);
    return exp2_q40((octaves << 16) / temperature_q16);
  }
};

bool is_valid(const embert_sample_options& options) {
  return options.temperature_q16 >= 1 && options.top_p >= 1 && options.top_p <= EMBERT_Q30_ONE;
}

}  // namespace
}  // namespace embert

embert_status embert_sample_options_init(embert_sample_options* options) {
  if (options == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  return embert::init_struct(
      {.size = 0, .temperature_q16 = 65536, .top_p = EMBERT_Q30_ONE, .top_k = 50}, options);
}

embert_status embert_sample_candidate(const embert_candidates* candidates, embert_scale scale,
                                      const embert_sample_options* options, uint32_t random,
                                      size_t* index) {
  using namespace embert;
  if (candidates == nullptr || candidates->items == nullptr || options == nullptr ||
      index == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  embert_sample_options chosen;
  const embert_status status = read_struct(*options, &chosen);
  if (status != EMBERT_STATUS_OK) return status;
  const embert_candidate* items = candidates->items;
  const size_t n = candidates->count;
  LogitRatio ratio;
  if (n > kMaxCandidates || !is_valid(chosen) || !make_logit_ratio(scale, &ratio)) {
    return EMBERT_STATUS_INVALID_OPTION;
  }
  if (n == 0) return EMBERT_STATUS_EMPTY_INPUT;
  for (size_t i = 1; i < n; ++i) {
    if (items[i].logit > items[i - 1].logit) return EMBERT_STATUS_INVALID_OPTION;
  }
  const Weights weights = {items, ratio, chosen.temperature_q16};
  const size_t top = chosen.top_k == 0 || chosen.top_k > n ? n : chosen.top_k;

  uint64_t total = 0;
  for (size_t i = 0; i < top; ++i) total += weights[i];
  if (chosen.top_p < EMBERT_Q30_ONE) {
    // The best has weight 2^40 and top_p is at least 2^-30, so at least one candidate stays.
    const uint64_t nucleus = part_of(total, chosen.top_p << 2);
    total = 0;
    for (size_t i = 0; i < top && total < nucleus; ++i) total += weights[i];
  }
  const uint64_t drawn = part_of(total, random);  // below total
  size_t at = 0;
  for (uint64_t sum = weights[0]; sum <= drawn; sum += weights[at]) ++at;
  *index = at;
  return EMBERT_STATUS_OK;
}
