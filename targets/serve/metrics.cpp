// SPDX-License-Identifier: Apache-2.0
#include "targets/serve/metrics.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>

namespace embert::serve {
namespace {

/// A value between quotes.
std::string label(const std::string& value) {
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted + '"';
}

/// The header of a metric.
std::string head(const std::string& name, const char* type, const char* help) {
  return "# HELP " + name + ' ' + help + "\n# TYPE " + name + ' ' + type + '\n';
}

std::string number(double value) {
  std::ostringstream text;
  text.precision(15);  // a sum of seconds still counts milliseconds after months
  text << value;
  return text.str();
}

/// Bytes of memory that the process has now; 0 where the system does not tell.
uint64_t resident_bytes() {
  uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

void Metrics::count_request(const char* route, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{route, status}];
  Times& times = times_[route];
  for (size_t i = 0; i < kBounds.size(); ++i) times.up_to[i] += seconds <= kBounds[i] ? 1u : 0u;
  ++times.count;
  times.sum += seconds;
}

std::string Metrics::text(const std::vector<ModelFigures>& models, size_t connections) const {
  std::string out = head("embert_requests_total", "counter", "Requests by route and status.");
  const std::lock_guard lock(mutex_);
  for (const auto& [key, count] : requests_) {
    out += "embert_requests_total{route=" + label(key.first) + ",status=\"" +
           std::to_string(key.second) + "\"} " + std::to_string(count) + '\n';
  }
  const std::string seconds = "embert_request_seconds";
  out += head(seconds, "histogram", "From the whole request to its answer, by route.");
  for (const auto& [route, times] : times_) {
    const std::string of_route = "route=" + label(route);
    for (size_t i = 0; i < kBounds.size(); ++i) {
      out += seconds + "_bucket{" + of_route + ",le=\"" + number(kBounds[i]) + "\"} " +
             std::to_string(times.up_to[i]) + '\n';
    }
    out += seconds + "_bucket{" + of_route + ",le=\"+Inf\"} " + std::to_string(times.count) + '\n';
    out += seconds + "_sum{" + of_route + "} " + number(times.sum) + '\n';
    out += seconds + "_count{" + of_route + "} " + std::to_string(times.count) + '\n';
  }
  const auto by_model = [&](const std::string& name, const char* type, const char* help,
                            const auto& value) {
    out += head(name, type, help);
    for (const ModelFigures& model : models) {
      out += name + "{model=" + label(model.name) + "} " + std::to_string(value(model)) + '\n';
    }
  };
  by_model("embert_batches_total", "counter", "Calls of the library.",
           [](const ModelFigures& model) { return model.metrics->batches(); });
  by_model("embert_texts_total", "counter", "Texts in these calls.",
           [](const ModelFigures& model) { return model.metrics->texts(); });
  by_model("embert_tokens_total", "counter", "Tokens of these texts.",
           [](const ModelFigures& model) { return model.metrics->tokens(); });
  by_model("embert_waiting_requests", "gauge", "Requests that wait for a model or run in it.",
           [](const ModelFigures& model) { return model.waiting; });
  out += head("embert_connections", "gauge", "Open connections.");
  out += "embert_connections " + std::to_string(connections) + '\n';
  out += head("process_resident_memory_bytes", "gauge", "Memory of the process.");
  out += "process_resident_memory_bytes " + std::to_string(resident_bytes()) + '\n';
  return out;
}

}  // namespace embert::serve
