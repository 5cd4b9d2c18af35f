// SPDX-License-Identifier: Apache-2.0
// The runtime's outputs of a reference call, in the shapes and under the names of the reference's
// padded tensors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "embert/embert_inspect.h"
#include "embert/embert_run.h"
#include "tests/golden/golden_case.hpp"
#include "tests/golden/golden_input.hpp"
#include "tests/support/synthetic_blob.hpp"

namespace embert::test {

/// Integers in the shape of a reference tensor: real = value * scale. kAbsent at padding, where
/// nothing is computed.
struct GoldenTensor {
  static constexpr std::int32_t kAbsent = INT32_MIN;
  std::vector<std::uint64_t> shape;
  std::vector<std::int32_t> values;
  double scale = 1;

  bool operator==(const GoldenTensor&) const = default;
};
using GoldenOutputs = std::map<std::string, GoldenTensor>;

/// An engine in an arena of exactly the requested size, filled with garbage before. Throws with the
/// status if a call fails.
class GoldenEngine {
 public:
  /// The blob must live as long as this.
  GoldenEngine(const AlignedBytes& blob, std::uint32_t isa_mask, std::uint32_t threads);
  GoldenEngine(const GoldenEngine&) = delete;
  GoldenEngine& operator=(const GoldenEngine&) = delete;

  const embert_model_info& info() const { return info_; }

  /// Clears a decoder's cache; does nothing for other models.
  void clear_cache();
  void set_source(const GoldenSource& source);
  /// All outputs of the last stack: last_hidden_state, hidden_states.N, attentions.N,
  /// cross_attentions.N, and those of the model's task heads: pooler_output, class_logits,
  /// token_logits, lm_logits.
  GoldenOutputs run(const GoldenInput& input);
  /// Runs the encoder of a model with two stacks and makes its states the source. Outputs:
  /// last_hidden_state, hidden_states.N, attentions.N.
  GoldenOutputs encode_source(const GoldenInput& input);
  /// Only the outputs that read token 0 of each text: pooler_output and class_logits.
  GoldenOutputs run_token_zero(const GoldenInput& input);
  embert_status selftest() { return embert_selftest(engine_, nullptr); }

 private:
  struct Buffers;
  /// Hidden states and attentions, which both stacks have.
  GoldenOutputs collect(std::uint32_t stack, const GoldenInput& input,
                        const Buffers& buffers) const;
  GoldenTensor lm_logits(const GoldenInput& input);

  embert_model model_ = {};
  embert_model_info info_ = {.size = sizeof(info_)};
  AlignedBytes arena_;
  embert_engine* engine_ = nullptr;
  std::vector<std::uint32_t> source_lengths_;
  std::size_t source_length_ = 0;  ///< of every source of the reference
};

/// Runs a call of any kind. Returns all outputs that case.json names but past_key_values and
/// prompt_cache, which are no part of the runtime's interface. Throws if another one is missing.
GoldenOutputs run_golden_call(GoldenEngine& engine, const GoldenCase& golden,
                              const std::string& call, Padding padding);

/// Whether an output of the reference is a part of its cache.
bool is_cache(const std::string& output);

}  // namespace embert::test
