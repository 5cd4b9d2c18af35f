// SPDX-License-Identifier: Apache-2.0
#include "targets/serve/models/served_models.hpp"

#include <algorithm>
#include <filesystem>

namespace embert::serve {

std::string ServedModel::without_path(const std::string& message) const {
  const std::string path = quoted_path(model.file().path());
  const size_t at = message.find(path);
  if (at == std::string::npos) return message;
  return message.substr(0, at) + name + message.substr(at + path.size());
}

ServedModels::ServedModels(const std::vector<std::string>& models, const ModelOptions& options,
                           uint32_t most_requests) {
  for (const std::string& argument : models) {
    const size_t equals = argument.find('=');
    std::error_code unknown;  // a path may have the sign, too
    const bool is_named =
        equals != std::string::npos && equals > 0 && !std::filesystem::exists(argument, unknown);
    const std::string path = is_named ? argument.substr(equals + 1) : argument;
    const std::string name =
        is_named ? argument.substr(0, equals) : std::filesystem::path(path).stem().string();
    if (one_line(name) != name) {
      throw UsageError("the name of " + quoted_path(path) +
                       " has a control character or is not UTF-8: name it with NAME=FILE");
    }
    const auto has_name = [&](const auto& model) { return model->name == name; };
    if (std::any_of(models_.begin(), models_.end(), has_name)) {
      throw UsageError("two models have the name \"" + name + "\": name them with NAME=FILE");
    }
    models_.push_back(std::make_unique<ServedModel>(name, path, options, most_requests));
  }
}

ServedModel& ServedModels::by_name(const std::string& name) const {
  std::string known;
  for (const auto& model : models_) {
    if (model->name == name) return *model;
    known += (known.empty() ? "" : ", ") + model->name;
  }
  throw RequestError(
      404, "model_not_found",
      "there is no model \"" + one_line(name.substr(0, 100)) + "\"; there are " + known);
}

}  // namespace embert::serve
