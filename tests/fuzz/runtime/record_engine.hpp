// SPDX-License-Identifier: Apache-2.0
// Records the results of an engine: passes with and without masks, texts, sources and decoding.
#pragma once

#include "embert/embert_inspect.h"
#include "embert/embert_run.h"
#include "tests/fuzz/runtime/record.hpp"

namespace embert::fuzz {

/// An engine for two texts at a time.
struct Session {
  const embert_model& model;
  const embert_model_info& info;
  const embert_options& options;
  embert_engine* engine;
};

/// A text and a pair, with characters of several bytes, bytes that are no UTF-8, and masks.
extern const embert_text kTexts[2];

void record_engine(const Session& session, Record& record);

}  // namespace embert::fuzz
