// SPDX-License-Identifier: Apache-2.0
// A web page whose owner lets its name point to 127.0.0.1 (DNS rebinding) may ask a server on this
// machine as if it were the page's own. The browser then sends the page's name as Host.
#pragma once

#include <string>

namespace embert::serve {

/// address: in numbers, as the system writes it.
bool is_loopback_address(const std::string& address);

/// host: the header, with any port or none. Whether it is an address of this machine (127.x.y.z,
/// [::1], or 0.0.0.0 and [::], which stand for them) or a name that no owner of a page can have:
/// one without a dot, or below localhost or internal.
bool is_private_host(const std::string& host);

}  // namespace embert::serve
