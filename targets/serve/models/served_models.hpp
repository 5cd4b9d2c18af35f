// SPDX-License-Identifier: Apache-2.0
// The models of the server by name, each with its queue.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "targets/hosted/hosted_model.hpp"
#include "targets/serve/models/batch_queue.hpp"
#include "targets/serve/request_error.hpp"

namespace embert::serve {

struct ServedModel {
  ServedModel(const std::string& served_name, const std::string& path, const ModelOptions& options,
              uint32_t most_requests)
      : name(served_name), model(path, options), queue(model, most_requests, metrics) {}

  /// The message of an error without the model's path, which is not for clients.
  std::string without_path(const std::string& message) const;

  std::string name;
  HostedModel model;
  ModelMetrics metrics;
  BatchQueue queue;
};

class ServedModels {
 public:
  /// models: "NAME=FILE", or a file, whose name without its extension is the model's. Throws
  /// UsageError for a name that occurs twice.
  ServedModels(const std::vector<std::string>& models, const ModelOptions& options,
               uint32_t most_requests);

  const std::vector<std::unique_ptr<ServedModel>>& all() const { return models_; }
  /// Throws RequestError, 404.
  ServedModel& by_name(const std::string& name) const;

 private:
  std::vector<std::unique_ptr<ServedModel>> models_;
};

}  // namespace embert::serve
