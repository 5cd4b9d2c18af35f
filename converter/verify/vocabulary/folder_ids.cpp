// SPDX-License-Identifier: Apache-2.0
#include "converter/verify/vocabulary/folder_ids.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>

#include "converter/import/tokenizer/read_tokenizer.hpp"
#include "embert/embert_tokenizer.h"

namespace embert::convert {

std::vector<std::int32_t> folder_ids(const ModelFolder& folder, const IntegerModel& integers) {
  embert_stack_info first = {.size = sizeof(first)};
  embert_model_get_stack(&integers.model(), 0, &first);
  const auto folder_size = static_cast<std::uint32_t>(folder.config.first().vocab_size);
  if (first.vocab_size >= folder_size || integers.info().has_tokenizer == 0) return {};
  std::vector<std::string> warnings;  // the reader of the folder has said them
  const std::optional<TokenizerSpec> spec = read_tokenizer(folder.transformer_folder, warnings);
  if (!spec) return {};
  std::unordered_map<std::string, std::int32_t> id_of;
  for (const std::string& token : spec->tokens) {
    id_of.emplace(token, static_cast<std::int32_t>(id_of.size()));
  }
  std::vector<std::int32_t> ids;
  for (std::uint32_t id = 0; id < first.vocab_size; ++id) {
    const char* string = nullptr;
    std::size_t bytes = 0;
    if (embert_token(&integers.model(), id, &string, &bytes) != EMBERT_STATUS_OK) return {};
    const auto found = id_of.find(std::string(string, bytes));
    // A folder may have more tokens than rows; then its tokens are not those of the model.
    if (found == id_of.end() || static_cast<std::uint32_t>(found->second) >= folder_size) return {};
    ids.push_back(found->second);
  }
  return ids;
}

ModelBatch with_folder_ids(const ModelConfig& config, const std::vector<std::int32_t>& folder_ids,
                           ModelBatch batch) {
  const auto translate = [&](TokenBatch& texts) {
    for (std::int32_t& id : texts.ids) id = folder_ids[static_cast<std::size_t>(id)];
  };
  if (config.last().vocab_size == config.first().vocab_size) translate(batch.texts);
  translate(batch.sources);
  return batch;
}

}  // namespace embert::convert
