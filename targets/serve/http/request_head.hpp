// SPDX-License-Identifier: Apache-2.0
// Request line and headers, checked before cpp-httplib reads them. The library is lenient (Debian
// 12 has version 0.11.4): it skips lines that it cannot read, takes a length that is no number for
// 0, repeats ranges, unpacks bodies without a bound. A server behind a proxy must not disagree with
// the proxy about where a request ends. So the library gets the request line and the body's length,
// and of the other headers nothing but those below.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace embert::serve {

struct RequestHead {
  std::string text;                 ///< what cpp-httplib reads
  std::optional<std::string> host;  ///< HTTP/1.0 may lack it
  std::string authorization, content_type;
  size_t body_bytes = 0;
  bool keep_alive = true;      ///< the client may send another request behind this one
  bool waits_to_send = false;  ///< Expect: 100-continue
};

/// text: up to the empty line, and with it. Throws RequestError: 400 for what breaks the grammar of
/// RFC 9112, 411 for a body without length, 413, 414, 415, 417 and 505.
RequestHead checked_head(std::string_view text, size_t most_body_bytes);

}  // namespace embert::serve
