// SPDX-License-Identifier: Apache-2.0
// The token ids that a model is calibrated or compared on, and the float model's pass over them.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "converter/reference/float_model.hpp"
#include "converter/reference/observer.hpp"

namespace embert::convert {

/// What goes into a model: texts, and for two stacks the source of each.
struct ModelBatch {
  ModelBatch() = default;
  /// Not explicit: for most models texts are all that goes in.
  ModelBatch(TokenBatch texts_alone) : texts(std::move(texts_alone)) {}
  ModelBatch(TokenBatch targets, TokenBatch their_sources)
      : texts(std::move(targets)), sources(std::move(their_sources)) {}

  TokenBatch texts;    ///< of the last stack; a lone decoder's bring their encoder states
  TokenBatch sources;  ///< of the encoder, one a text; empty with one stack

  std::size_t tokens() const { return texts.ids.size() + sources.ids.size(); }
  /// What goes into stack `number` of `stacks`.
  const TokenBatch& of_stack(std::size_t number, std::size_t stacks) const {
    return number + 1 == stacks ? texts : sources;
  }
};

/// Parts of up to `texts` texts, in order. Without masks and position ids.
std::vector<TokenBatch> cut_batch(const TokenBatch& batch, std::size_t texts);
std::vector<ModelBatch> cut_batch(const ModelBatch& batch, std::size_t texts);

/// One text or a pair through the model of one or two stacks: the last stack's output.
ForwardOutput run_float(FloatModel& model, const ModelBatch& batch, const Observer* observer,
                        const ForwardOptions& options);

/// Shows `observer` a pass over all texts. `lm_rows` tokens, evenly spread, go through the language
/// head, too.
void observe_batch(FloatModel& model, const ModelBatch& batch, std::size_t lm_rows,
                   const Observer& observer);

}  // namespace embert::convert
