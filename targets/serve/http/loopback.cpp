// SPDX-License-Identifier: Apache-2.0
#include "targets/serve/http/loopback.hpp"

#include <regex>

namespace embert::serve {

bool is_loopback_address(const std::string& address) {
  return address == "::1" || address.starts_with("127.");
}

bool is_private_host(const std::string& host) {
  constexpr size_t kLongestHost = 260;  // a name has 255 characters at most
  static const std::regex kPrivate(
      R"(([\w-]+\.?|([\w-]+\.)+(localhost|internal)\.?|127(\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\])(:\d{0,5})?)",
      std::regex::icase);
  return host.size() <= kLongestHost && std::regex_match(host, kPrivate);
}

}  // namespace embert::serve
