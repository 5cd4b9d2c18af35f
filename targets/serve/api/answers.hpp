// SPDX-License-Identifier: Apache-2.0
// The routes that run a model: each takes its fields from the request and returns the answer's
// JSON. They throw RequestError, and the exceptions of the hosted library.
#pragma once

#include <string>

#include "targets/hosted/tasks/common/json_options.hpp"
#include "targets/serve/limits.hpp"
#include "targets/serve/models/served_models.hpp"

namespace embert::serve {

struct ApiCall {
  ServedModel& served;
  JsonOptions& fields;  ///< without "model"
  const Limits& limits;
};

std::string answer_embeddings(const ApiCall& call);
std::string answer_classify(const ApiCall& call);
std::string answer_rerank(const ApiCall& call);
std::string answer_tokenize(const ApiCall& call);

/// The value of a field; throws RequestError, 400, if it is missing.
Json required(JsonOptions& fields, const char* name);

}  // namespace embert::serve
