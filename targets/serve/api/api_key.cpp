// SPDX-License-Identifier: Apache-2.0
#include "targets/serve/api/api_key.hpp"

#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "targets/hosted/model/sha256.hpp"
#include "targets/serve/request_error.hpp"

namespace embert::serve {
namespace {

constexpr const char* kVariable = "EMBERT_API_KEY";
constexpr size_t kMostKeyBytes = 4096;

std::string digest_of(std::string_view key) {
  return sha256({reinterpret_cast<const uint8_t*>(key.data()), key.size()});
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line(kMostKeyBytes + 2, '\0');
  if (!file.read(line.data(), static_cast<std::streamsize>(line.size())) && file.gcount() == 0) {
    throw InputError(quoted_path(path) +
                     ": cannot be read or is empty; it takes a key in one line");
  }
  line.resize(static_cast<size_t>(file.gcount()));
  return line.substr(0, line.find_first_of("\r\n"));
}

}  // namespace

ApiKey::ApiKey(const std::string& file) {
  const char* variable = std::getenv(kVariable);
  if (file.empty() && variable == nullptr) return;
  const std::string key = file.empty() ? variable : first_line(file);
  const std::string source = file.empty() ? kVariable : quoted_path(file);
  const auto is_visible = [](char c) { return c > ' ' && c < '\x7f'; };
  if (key.empty() || key.size() > kMostKeyBytes ||
      !std::all_of(key.begin(), key.end(), is_visible)) {
    throw InputError(source + ": is no key, which has 1 to " + std::to_string(kMostKeyBytes) +
                     " visible ASCII characters");
  }
  digest_ = digest_of(key);
}

bool ApiKey::allows(const std::string& authorization) const {
  if (!is_set()) return true;
  constexpr std::string_view kScheme = "bearer ";
  std::string_view given = authorization;
  if (strncasecmp(authorization.c_str(), kScheme.data(), kScheme.size()) != 0) return false;
  given.remove_prefix(kScheme.size());
  // Digests have one length, and no byte of them tells how many bytes of the key were right.
  const std::string digest = digest_of(given);
  unsigned difference = 0;
  for (size_t i = 0; i < digest.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(digest[i]) ^
                                        static_cast<unsigned char>(digest_[i]));
  }
  return difference == 0;
}

}  // namespace embert::serve
