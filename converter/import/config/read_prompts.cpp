// SPDX-License-Identifier: Apache-2.0
// Names and texts end with a zero byte in the blob, so neither may hold one.
#include "converter/import/config/read_prompts.hpp"

#include <cstddef>
#include <string>

#include "converter/convert_error.hpp"
#include "converter/import/json_file.hpp"
#include "runtime/format/blob_format.hpp"

namespace embert::convert {
namespace {

constexpr const char* kPromptFile = "config_sentence_transformers.json";
// 512 tokens, the longest text of any model, are about 2,000 bytes of English.
constexpr std::size_t kMaxNameBytes = 256, kMaxTextBytes = 4096;

std::string quoted_name(const std::string& name) {
  std::string quoted = "\"";
  return quoted.append(printable(name)).append("\"");
}

[[noreturn]] void refuse(const std::string& what) {
  throw ConvertError(std::string(kPromptFile) + ": " + what);
}

void check_string(const std::string& what, const std::string& value, std::size_t max_bytes) {
  if (value.size() > max_bytes) {
    refuse(what + " has " + std::to_string(value.size()) + " bytes; at most " +
           std::to_string(max_bytes) + " are supported");
  }
  if (value.find('\0') != std::string::npos) refuse(what + " has a zero byte");
}

std::string known_names(const PromptConfig& prompts) {
  if (prompts.texts.empty()) return "there are none";
  std::string names;
  for (const auto& [name, text] : prompts.texts) {
    names.append(names.empty() ? "expected one of " : ", ").append(quoted_name(name));
  }
  return printable(names, 400);
}

void read_texts(const Json& prompts, PromptConfig& out) {
  if (!prompts.is_object()) {
    refuse("prompts must be an object of names and texts, found " + describe_json(prompts));
  }
  if (prompts.size() > kMaxPrompts) {
    refuse(std::to_string(prompts.size()) + " prompts; at most " + std::to_string(kMaxPrompts) +
           " are supported");
  }
  for (const auto& [name, text] : prompts.items()) {
    if (name.empty()) refuse("a prompt has no name");
    check_string("name of prompt " + quoted_name(name), name, kMaxNameBytes);
    if (!text.is_string()) {
      refuse("prompt " + quoted_name(name) + " must be a string, found " + describe_json(text));
    }
    out.texts[name] = text.get<std::string>();
    check_string("prompt " + quoted_name(name), out.texts[name], kMaxTextBytes);
  }
}

}  // namespace

PromptConfig read_prompts(const std::filesystem::path& folder) {
  PromptConfig out;
  if (!file_exists(folder / kPromptFile)) return out;
  const Json document = read_json_file(folder / kPromptFile, kPromptFile);
  const JsonFields fields(document, kPromptFile);
  if (const Json* prompts = fields.find("prompts")) read_texts(*prompts, out);
  if (fields.has("default_prompt_name")) {
    out.default_name = fields.get_string("default_prompt_name");
    if (!out.texts.contains(*out.default_name)) {
      refuse("default_prompt_name " + quoted_name(*out.default_name) +
             " is no prompt of the file; " + known_names(out));
    }
  }
  return out;
}

}  // namespace embert::convert
