// The address under which a caller reaches this server, for links in responses.
#pragma once

#include <string>

#include "api/pipeline/services.h"
#include "http/message.h"

namespace coffer::api {

/// Scheme and host of this server without a trailing slash, as the caller of `request` reaches it:
/// the configured domain; else the request's Host when it is plain, with https when the own
/// listener or a proxy on this machine (X-Forwarded-Proto) has TLS; else the listener's address.
/// nullptr: a request that was refused before its header could be trusted.
std::string base_url(const Services& services, const http::Request* request);

}  // namespace coffer::api
