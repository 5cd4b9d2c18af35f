// SPDX-License-Identifier: Apache-2.0
#include "targets/serve/api/api.hpp"

#include <chrono>
#include <ctime>
#include <utility>

#include "targets/hosted/model/model_tasks.hpp"
#include "targets/serve/api/answers.hpp"
#include "targets/serve/api/api_key.hpp"
#include "targets/serve/api/request_body.hpp"
#include "targets/serve/http/http_server.hpp"
#include "targets/serve/http/loopback.hpp"
#include "targets/serve/memory_budget.hpp"
#include "targets/serve/request_error.hpp"

namespace embert::serve {
namespace {

using httplib::Request;
using httplib::Response;

constexpr const char* kJson = "application/json";

/// A route that runs a model.
struct ModelRoute {
  const char* path;
  const char* name;  ///< of the route in messages
  std::string (*answer)(const ApiCall& call);
};

constexpr ModelRoute kModelRoutes[] = {
    {"/v1/embeddings", "embeddings", answer_embeddings},
    {"/v1/classify", "classify", answer_classify},
    {"/v1/rerank", "rerank", answer_rerank},
    {"/tokenize", "tokenize", answer_tokenize},
};

constexpr const char *kModels = "/v1/models", *kHealth = "/health", *kMetrics = "/metrics";

/// The method of a path; null: there is no such path.
const char* method_of(const std::string& path) {
  for (const ModelRoute& route : kModelRoutes) {
    if (path == route.path) return "POST";
  }
  const bool is_known = path == kModels || path == kHealth || path == kMetrics ||
                        path.rfind(std::string(kModels) + '/', 0) == 0;
  return is_known ? "GET" : nullptr;
}

void refuse(Response& response, const RequestError& error) {
  response.status = error.status;
  response.set_content(error_json(error), kJson);
  if (error.status == 429) response.set_header("Retry-After", "1");
}

Json model_object(const ServedModel& served, int64_t started) {
  const embert_model_info& info = served.model.file().info();
  return {{"id", served.name},
          {"object", "model"},
          {"created", started},
          {"owned_by", "embert"},
          {"tasks", task_names(info)},
          {"dimensions", info.vector_size},
          {"max_tokens", served.model.max_tokens()}};
}

}  // namespace

Json required(JsonOptions& fields, const char* name) {
  std::optional<Json> value = fields.take(name);
  if (!value) throw RequestError(400, "missing_field", std::string(name) + " is missing");
  return std::move(*value);
}

Api::Api(const ServedModels& models, const Limits& limits, const ApiKey& key,
         std::function<void(const std::string&)> note)
    : models_(models),
      limits_(limits),
      key_(key),
      note_(std::move(note)),
      started_(std::time(nullptr)) {}

Api::Handler Api::check(const Request& request, Response& response) {
  const char* method = method_of(request.path);
  const std::string asked = request.method == "HEAD" ? "GET" : request.method;
  std::optional<RequestError> error;
  // A browser always sends Host.
  if (!key_.is_set() && is_loopback_address(request.local_addr) && request.has_header("Host") &&
      !is_private_host(request.get_header_value("Host"))) {
    error = {403, "wrong_host",
             "Host is not this machine: call the server by localhost, 127.0.0.1 or [::1], or start "
             "it with a key (--api-key-file)"};
  } else if (request.path != kHealth && !key_.allows(request.get_header_value("Authorization"))) {
    error = {401, "invalid_api_key", "the key is missing or wrong: Authorization: Bearer KEY"};
    response.set_header("WWW-Authenticate", "Bearer");
  } else if (method == nullptr) {
    error = {404, "unknown_path",
             "there is no such path; there are /v1/embeddings, /v1/classify, "
             "/v1/rerank, /v1/models, /tokenize, /health and /metrics"};
  } else if (asked != method) {
    error = {405, "wrong_method", request.path + " takes " + method};
    response.set_header("Allow", method);
  } else if (asked == "POST" && request.get_header_value("Content-Type").rfind(kJson, 0) != 0) {
    error = {415, "unsupported_type", "the body is not declared as Content-Type: application/json"};
  }
  const auto body_bytes = request.get_header_value<uint64_t>("Content-Length");
  if (!error && asked == "POST") {  // of other methods no body is read
    try {
      RequestMemory::current().add(body_bytes * kParsedBytesPerByte);
    } catch (const RequestError& no_memory) {
      error = no_memory;
    }
  }
  if (!error) return Handler::Unhandled;
  metrics_.count_request("refused", error->status, 0);
  refuse(response, *error);
  if (body_bytes > kSmallRequest) response.set_header("Connection", "close");  // it is not read
  return Handler::Handled;
}

static RequestError out_of_memory() {
  return {503, "out_of_memory", "the server has no memory for this request now"};
}

void Api::run(const char* route, Response& response, const std::function<std::string()>& make) {
  const auto begun = std::chrono::steady_clock::now();
  try {
    response.set_content(make(), kJson);
    response.status = 200;
  } catch (const RequestError& error) {
    refuse(response, error);
  } catch (const hosted::Error& error) {
    const bool of_request =
        error.code == EMBERT_HOSTED_ARGUMENT || error.code == EMBERT_HOSTED_TEXT;
    if (!of_request) note_(std::string(route) + ": " + error.what());
    refuse(response,
           of_request ? RequestError(400, "invalid_value", error.what())
                      : RequestError(500, "internal", "a fault of the server; its log has more"));
  } catch (const std::bad_alloc&) {
    refuse(response, out_of_memory());
  } catch (const std::exception& error) {
    note_(std::string(route) + ": " + error.what());
    refuse(response, {500, "internal", "a fault of the server; its log has more"});
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
  metrics_.count_request(route, response.status, seconds.count());
}

ServedModel& Api::model_of(JsonOptions& fields) const {
  std::optional<Json> name = fields.take("model");
  if (!name) {
    if (models_.all().size() == 1) return *models_.all()[0];
    throw RequestError(400, "missing_field", "model is missing; /v1/models lists them");
  }
  if (!name->is_string()) throw RequestError(400, "invalid_value", "model is no text");
  return models_.by_name(name->get_ref<const std::string&>());
}

std::string Api::model_list() const {
  Json list = Json::array();
  for (const auto& model : models_.all()) list.push_back(model_object(*model, started_));
  return json_line({{"object", "list"}, {"data", std::move(list)}});
}

std::string Api::metrics_text() const {
  std::vector<ModelFigures> models;
  for (const auto& model : models_.all()) {
    models.push_back({model->name, &model->metrics, model->queue.waiting()});
  }
  return metrics_.text(models, server_->connections());
}

void Api::add_routes(HttpServer& server) {
  server_ = &server;
  httplib::Server& routes = server.routes();
  routes.set_pre_routing_handler(
      [this](const Request& request, Response& response) { return check(request, response); });
  for (const ModelRoute& route : kModelRoutes) {
    routes.Post(route.path, [this, &route](const Request& request, Response& response) {
      run(route.name, response, [&] {
        JsonOptions fields(route.name, checked_body(request.body, limits_));
        ServedModel& served = model_of(fields);
        try {
          return route.answer({served, fields, limits_});
        } catch (const UsageError& error) {
          throw UsageError(served.without_path(error.what()));
        }
      });
    });
  }
  routes.Get(kModels, [this](const Request&, Response& response) {
    run("models", response, [this] { return model_list(); });
  });
  routes.Get(std::string(kModels) + "/(.+)", [this](const Request& request, Response& response) {
    run("models", response, [&] {
      return json_line(model_object(models_.by_name(request.matches[1].str()), started_));
    });
  });
  routes.Get(kHealth, [this](const Request&, Response& response) {
    run("health", response, [this]() -> std::string {
      if (server_->is_stopping()) throw RequestError(503, "stopping", "the server is stopping");
      return R"({"status":"ok"})";
    });
  });
  routes.Get(kMetrics, [this](const Request&, Response& response) {
    run("metrics", response, [this] { return metrics_text(); });
    response.headers.erase("Content-Type");
    response.set_header("Content-Type", "text/plain; version=0.0.4");
  });
  // The library itself refuses a body that ends too early.
  const httplib::Server::HandlerWithResponse refuse_rest = [this](const Request&,
                                                                  Response& response) {
    if (response.body.empty()) {
      metrics_.count_request("refused", response.status, 0);
      refuse(response, {response.status, "bad_request", "the request cannot be read"});
    }
    return Handler::Handled;
  };
  routes.set_error_handler(refuse_rest);
  // Outside run() the library reads the body, for which there may be no memory.
  routes.set_exception_handler(
      [this](const Request&, Response& response, const std::exception_ptr& thrown) {
        try {
          std::rethrow_exception(thrown);
        } catch (const std::bad_alloc&) {
          metrics_.count_request("refused", 503, 0);
          refuse(response, out_of_memory());
        } catch (...) {
          response.status = 500;  // refuse_rest answers
        }
      });
}

}  // namespace embert::serve
