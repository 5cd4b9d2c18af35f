// SPDX-License-Identifier: Apache-2.0
// generate: a decoder continues a text, or an encoder-decoder pair transforms it.
#pragma once

#include "targets/hosted/tasks/common/decoding_options.hpp"
#include "targets/hosted/tasks/common/text_task.hpp"

namespace embert::hosted {

struct GenerateOptions {
  bool ids = false;  ///< texts are token ids with blanks between, in and out
  DecodingOptions decoding;
};

TextTask prepare_generate(HostedModel& model, const GenerateOptions& options);

}  // namespace embert::hosted
