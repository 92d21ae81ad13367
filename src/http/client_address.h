// Who asks, where a proxy may stand between.
#pragma once

#include <string>
#include <string_view>

#include "http/message.h"

namespace coffer::http {

/// Whether a numeric address is this machine's own loopback, also when it is an IPv4 address that
/// came by way of IPv6.
bool is_loopback(std::string_view address);

/// Whether a header says that the request was passed on for somebody else.
bool is_forwarded(const Request& request);

/// Numeric address of who asks, to hold failed attempts against. Behind a proxy on this machine it
/// is the one that the proxy saw: the last in X-Forwarded-For, since whatever stands before that
/// anybody could have written. From any other peer the header is not believed.
std::string client_address(const Request& request);

/// What one subscriber has: an IPv4 address, or the /64 of an IPv6 address.
std::string network_of(const std::string& address);

}  // namespace coffer::http
