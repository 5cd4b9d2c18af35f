// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/fit/model_fit.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "targets/cli/tool_error.hpp"
#include "targets/device/firmware_memory.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::cli {
namespace {

constexpr size_t kGroup = 32, kGroupBytes = 17;  // 4-bit word embeddings (runtime/format/FORMAT.md)

embert_model_info info_of(const FitModel& model) {
  embert_model_info info = {.size = sizeof(info)};
  check(embert_model_get_info(model.model, &info), "embert_model_get_info");
  return info;
}

size_t arena_bytes(const FitModel& model, uint32_t tokens) {
  embert_options options = embert_options_default(model.model);
  options.max_tokens = tokens;
  size_t bytes = 0;
  check(embert_arena_bytes(model.model, &options, &bytes), "embert_arena_bytes");
  return bytes;
}

size_t tokenizer_of(const FitModel& model) {
  embert_tokenizer_info tokenizer = {.size = sizeof(tokenizer)};
  const embert_status status = embert_model_get_tokenizer(model.model, &tokenizer);
  return status == EMBERT_STATUS_OK && tokenizer.type < kTokenizers ? tokenizer.type : 0;
}

/// Bytes of the sections with this name.
size_t section_bytes(const FitModel& model, std::string_view name) {
  embert_section section = {.size = sizeof(section)};
  size_t bytes = 0;
  for (uint32_t i = 0; embert_model_section(model.model, i, &section) == EMBERT_STATUS_OK; ++i) {
    if (section.name == name) bytes += section.bytes;
  }
  return bytes;
}

void add_flash_remedies(const FitModel& model, const MemoryNeed& need, uint64_t flash,
                        std::vector<std::string>& texts) {
  const size_t excess = need.flash() - flash;
  const Savings savings = possible_savings(model);
  texts.push_back("flash: " + grouped(excess) + " bytes too many");
  if (savings.embeddings_4bit) {
    const bool enough = *savings.embeddings_4bit >= excess;
    texts.push_back("convert with --embeddings 4bit: saves about " +
                    grouped(*savings.embeddings_4bit) +
                    (enough ? " bytes, which is enough" : " bytes, which is not enough alone"));
  }
  // Rare tokens are dropped, which take up to 1 % less than the mean.
  constexpr double kMargin = 1.02;
  const double dropped = static_cast<double>(excess) / std::max(1.0, savings.bytes_of_token);
  const double kept = static_cast<double>(savings.vocabulary) - std::ceil(kMargin * dropped);
  if (savings.vocabulary > 0 && kept >= 1) {
    texts.push_back((savings.embeddings_4bit ? "or keep about " : "keep about ") +
                    grouped(static_cast<size_t>(kept)) + " of the " + grouped(savings.vocabulary) +
                    " tokens: --vocabulary-size " + std::to_string(static_cast<size_t>(kept)));
    texts.push_back("a smaller vocabulary gives other words other tokens: measure what it costs");
  } else {
    texts.push_back("a smaller vocabulary alone is not enough: take a model with smaller layers");
  }
}

}  // namespace

MemoryNeed memory_need(const FitModel& model, const KernelSet& kernels) {
  // In an image a byte marks the model's end (targets/cortex-m/model.S), and what follows it is
  // aligned to 8.
  const size_t in_image = (model.blob.size() + 1 + 7) / 8 * 8;
  const embert_model_info info = info_of(model);
  const size_t tokenizer = tokenizer_of(model), arena = arena_bytes(model, model.tokens);
  return {.code = kernels.code[tokenizer],
          .model = kernels.bare_metal ? in_image : model.blob.size(),
          .loaded_model = kernels.bare_metal ? 0 : model.blob.size(),
          .arena = arena,
          .buffers = device::firmware_memory(info, model.tokens, arena) - arena,
          .variables = kernels.variables,
          .stack = kernels.stack[tokenizer]};
}

uint32_t most_tokens(const FitModel& model, const KernelSet& kernels, uint64_t ram) {
  uint32_t fitting = 0, too_many = info_of(model).max_positions + 1;
  while (too_many - fitting > 1) {
    FitModel tried = model;
    tried.tokens = fitting + (too_many - fitting) / 2;
    (memory_need(tried, kernels).ram() <= ram ? fitting : too_many) = tried.tokens;
  }
  return fitting;
}

Savings possible_savings(const FitModel& model) {
  const embert_model_info info = info_of(model);
  Savings savings;
  const size_t words = section_bytes(model, "word_embeddings");
  if (info.vocab_size == 0) return savings;
  const size_t groups = (words / info.vocab_size + kGroup - 1) / kGroup;
  const size_t words_4bit = groups * kGroupBytes * info.vocab_size;
  // Pairs, and heads that predict with the word embeddings, keep 8 bits.
  const bool can_be_4bit = section_bytes(model, "cross_query") == 0 &&
                           (info.has_lm == 0 || section_bytes(model, "lm_rows") > 0);
  if (can_be_4bit && words_4bit < words) savings.embeddings_4bit = words - words_4bit;
  const size_t rows = words + section_bytes(model, "4-bit word embeddings") +
                      section_bytes(model, "word_multipliers") + section_bytes(model, "tokenizer");
  if (info.has_tokenizer != 0) savings.vocabulary = info.vocab_size;
  savings.bytes_of_token = static_cast<double>(rows) / info.vocab_size;
  return savings;
}

std::vector<std::string> remedies(const FitModel& model, const KernelSet& kernels,
                                  const FitLimits& limits) {
  const MemoryNeed need = memory_need(model, kernels);
  std::vector<std::string> texts;
  if (limits.flash != 0 && need.flash() > limits.flash) {
    add_flash_remedies(model, need, limits.flash, texts);
  }
  if (need.ram() > limits.ram) {
    texts.push_back("RAM: " + grouped(need.ram() - limits.ram) + " bytes too many");
    const uint32_t tokens = most_tokens(model, kernels, limits.ram);
    texts.push_back(tokens > 0
                        ? "texts of up to " + std::to_string(tokens) +
                              " tokens fit: convert with --max-tokens " + std::to_string(tokens)
                        : "not even one token fits: take a narrower model");
  }
  return texts;
}

}  // namespace embert::cli
