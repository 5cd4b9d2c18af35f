// SPDX-License-Identifier: Apache-2.0
// Reads how a sentence-transformers folder pools: modules.json, the pooling module's config.json
// and sentence_bert_config.json. All are optional.
#pragma once

#include <filesystem>

#include "converter/model/pooling_config.hpp"

namespace embert::convert {

/// Throws ConvertError.
PoolingConfig read_pooling(const std::filesystem::path& folder);

}  // namespace embert::convert
