// SPDX-License-Identifier: Apache-2.0
#include "converter/vocabulary/prune_vocabulary.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/format/byte_pair_format.hpp"

namespace embert::convert {
namespace {

BpeSpec prune_bpe(const BpeSpec& bpe, const KeptIds& kept) {
  BpeSpec out = bpe;
  out.merges.clear();
  out.symbol_ids.clear();
  std::vector<std::uint32_t> new_symbols;
  for (std::size_t symbol = 0; symbol < bpe.symbol_ids.size(); ++symbol) {
    const std::uint32_t id = kept.new_id(bpe.symbol_ids[symbol]);
    new_symbols.push_back(static_cast<std::uint32_t>(out.symbol_ids.size()));
    if (id == KeptIds::kPruned) continue;
    out.symbol_ids.push_back(id);
    if (symbol < kByteSymbols) continue;
    const auto& [left, right] = bpe.merges[symbol - kByteSymbols];
    out.merges.push_back({new_symbols[left], new_symbols[right]});
  }
  return out;
}

UnigramSpec prune_unigram(const UnigramSpec& unigram, const KeptIds& kept) {
  UnigramSpec out = unigram;
  out.least_score = std::ranges::min(unigram.scores);
  out.scores.clear();
  for (const std::uint32_t id : kept.old_ids()) {
    if (id < unigram.scores.size()) out.scores.push_back(unigram.scores[id]);
  }
  return out;
}

bool has_ids(const StackConfig& stack, const KeptIds& kept) {
  return static_cast<std::size_t>(stack.vocab_size) == kept.old_size();
}

void renumber(const KeptIds& kept, int& id) {
  if (id >= 0) id = static_cast<int>(kept.new_id(static_cast<std::uint32_t>(id)));
}

void prune_stack(const KeptIds& kept, QuantizedStack& stack, StackConfig& config) {
  kept.prune_rows(stack.word_embeddings);
  kept.prune_rows(stack.word_multipliers);
  if (stack.embeddings_4bit) kept.prune_rows(stack.embeddings_4bit->rows);
  stack.record.vocab_size = static_cast<std::uint32_t>(kept.size());
  if ((stack.record.flags & kStackPaddingPosition) != 0) {
    stack.padding_id = kept.new_id(stack.padding_id);
  }
  if (auto& table = stack.static_embeddings; table && table->dropped_id != UINT32_MAX) {
    table->dropped_id = kept.new_id(table->dropped_id);
  }
  config.vocab_size = static_cast<int>(kept.size());
  renumber(kept, config.padding_position_id);
  renumber(kept, config.dropped_token);
}

}  // namespace

std::vector<std::uint32_t> ids_of_model(const ModelConfig& config) {
  std::vector<std::uint32_t> ids;
  const auto add = [&](int id) {
    if (id >= 0) ids.push_back(static_cast<std::uint32_t>(id));
  };
  if (config.last().vocab_size == config.first().vocab_size) {
    add(config.eos_token_id);
    add(config.decoder_start_token_id);
  }
  add(config.first().padding_position_id);
  add(config.first().dropped_token);
  return ids;
}

TokenizerSpec prune_tokenizer(const TokenizerSpec& spec, const KeptIds& kept) {
  TokenizerSpec out = spec;
  out.tokens.clear();
  out.in_vocabulary.clear();
  for (const std::uint32_t id : kept.old_ids()) {
    if (id >= spec.tokens.size()) break;
    out.tokens.push_back(spec.tokens[id]);
    out.in_vocabulary.push_back(spec.in_vocabulary[id]);
  }
  for (AddedTokenSpec& token : out.added_tokens) token.id = kept.new_id(token.id);
  for (auto* id : {&out.unk_id, &out.cls_id, &out.sep_id, &out.pad_id, &out.mask_id}) {
    if (*id) *id = kept.new_id(**id);
  }
  for (auto* pieces : {&out.single, &out.pair}) {
    for (TemplatePieceSpec& piece : *pieces) {
      if (piece.kind == TemplatePieceSpec::Kind::kToken) {
        piece.token_id = kept.new_id(piece.token_id);
      }
    }
  }
  if (const auto* bpe = std::get_if<BpeSpec>(&spec.model)) out.model = prune_bpe(*bpe, kept);
  if (const auto* unigram = std::get_if<UnigramSpec>(&spec.model)) {
    out.model = prune_unigram(*unigram, kept);
  }
  return out;
}

void prune_model(const KeptIds& kept, QuantizedModel& model, ModelConfig& config) {
  renumber(kept, config.pad_token_id);
  if (has_ids(config.last(), kept)) {
    for (std::uint32_t* id : {&model.start_id, &model.end_id}) {
      if (*id != UINT32_MAX) *id = kept.new_id(*id);
    }
    renumber(kept, config.eos_token_id);
    renumber(kept, config.decoder_start_token_id);
    if (model.lm) {
      kept.prune_rows(model.lm->rows);
      kept.prune_rows(model.lm->multipliers);
      kept.prune_rows(model.lm->bias);
    }
  }
  for (std::size_t s = 0; s < model.stacks.size(); ++s) {
    if (has_ids(config.stacks[s], kept)) prune_stack(kept, model.stacks[s], config.stacks[s]);
  }
}

}  // namespace embert::convert
