// The base URL of this server for the caller, for links in responses.
#pragma once

#include <string>

#include "api/pipeline/services.h"
#include "http/message.h"

namespace coffer::api {

/// Scheme and host of this server as the caller of `request` reaches it, without a trailing slash:
/// the configured domain; otherwise a valid Host header, with https if the listener or a proxy on
/// this machine (X-Forwarded-Proto) terminates TLS; otherwise the listener's address. nullptr if
/// the request was rejected before its headers could be trusted.
std::string base_url(const Services& services, const http::Request* request);

}  // namespace coffer::api
