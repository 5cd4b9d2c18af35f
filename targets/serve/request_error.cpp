// SPDX-License-Identifier: Apache-2.0
#include "targets/serve/request_error.hpp"

namespace embert::serve {

std::string error_json(const RequestError& error) {
  const char* type = error.status >= 500   ? "server_error"
                     : error.status == 429 ? "rate_limit_error"
                     : error.status == 401 ? "authentication_error"
                                           : "invalid_request_error";
  return json_line(
      {{"error",
        {{"message", error.what()}, {"type", type}, {"param", nullptr}, {"code", error.code}}}});
}

}  // namespace embert::serve
