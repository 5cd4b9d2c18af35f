// SPDX-License-Identifier: Apache-2.0
// A blob with a pruned vocabulary has ids of its own. Its tokens have the strings of the folder's.
#pragma once

#include <cstdint>
#include <vector>

#include "converter/import/read_model_folder.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/verify/integer_model.hpp"

namespace embert::convert {

/// By id of the blob's first stack, the folder's id of the same token. Empty where the blob has as
/// many ids as the folder, or one that the folder's tokenizer does not have.
std::vector<std::int32_t> folder_ids(const ModelFolder& folder, const IntegerModel& integers);

/// `batch` with the folder's ids, in each stack that has the first one's vocabulary.
ModelBatch with_folder_ids(const ModelConfig& config, const std::vector<std::int32_t>& folder_ids,
                           ModelBatch batch);

}  // namespace embert::convert
