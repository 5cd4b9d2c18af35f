// SPDX-License-Identifier: Apache-2.0
// The content of a model file and the memory that it needs, as JSON.
#pragma once

#include "targets/hosted/line_text.hpp"
#include "targets/hosted/model/model_file.hpp"

namespace embert::hosted {

/// Keys: file, blob_bytes, arena_bytes, header, tokenizer, tasks, labels, token_labels, prompts,
/// default_prompt_name, certificate, tensors.
Json inspect_model(const ModelFile& file);

/// The certificate in the model file: null without one, text where it is not JSON; the converter
/// always writes JSON.
Json stored_certificate(const ModelFile& file);

}  // namespace embert::hosted
