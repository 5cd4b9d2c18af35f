// SPDX-License-Identifier: Apache-2.0
// The routes of the server, and what they share: the key, errors as JSON, metrics.
#pragma once

#include <httplib.h>

#include <cstdint>
#include <functional>
#include <string>

#include "targets/serve/limits.hpp"
#include "targets/serve/metrics.hpp"

namespace embert::hosted {
class JsonOptions;
}

namespace embert::serve {

class ApiKey;
class HttpServer;
class ServedModels;
struct ServedModel;

class Api {
 public:
  /// note: writes a line for the operator. The arguments live longer than the object.
  Api(const ServedModels& models, const Limits& limits, const ApiKey& key,
      std::function<void(const std::string&)> note);

  /// The server lives longer than the object.
  void add_routes(HttpServer& server);
  Metrics& metrics() { return metrics_; }

 private:
  using Handler = httplib::Server::HandlerResponse;
  /// Answers what needs no body: a wrong path, method, key or type.
  Handler check(const httplib::Request& request, httplib::Response& response);
  /// Runs a route and turns its exceptions into answers.
  void run(const char* route, httplib::Response& response,
           const std::function<std::string()>& make);
  ServedModel& model_of(hosted::JsonOptions& fields) const;
  std::string model_list() const;
  std::string metrics_text() const;

  const ServedModels& models_;
  const Limits limits_;
  const ApiKey& key_;
  const std::function<void(const std::string&)> note_;
  const int64_t started_;  ///< seconds since 1970
  Metrics metrics_;
  HttpServer* server_ = nullptr;
};

}  // namespace embert::serve
