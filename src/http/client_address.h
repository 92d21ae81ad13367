// The address of the client, which may be behind a proxy.
#pragma once

#include <string>
#include <string_view>

#include "http/message.h"

namespace coffer::http {

/// Whether a numeric address is a loopback address, including an IPv4 loopback address mapped to
/// IPv6.
bool is_loopback(std::string_view address);

/// Whether a header shows that a proxy forwarded the request.
bool is_forwarded(const Request& request);

/// The numeric address of the client, to which failed attempts are counted. If the peer is a proxy
/// on this machine, it is the last entry of X-Forwarded-For, because a client can forge the entries
/// before it. From any other peer, the header is ignored.
std::string client_address(const Request& request);

/// The network of one subscriber: an IPv4 address, or the /64 of an IPv6 address.
std::string network_of(const std::string& address);

}  // namespace coffer::http
