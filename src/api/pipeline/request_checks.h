// Checks of a request against its route row, other than the body: query parameters and media types.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/pipeline/route.h"
#include "base/result.h"
#include "http/message.h"

namespace coffer::api {

inline constexpr std::string_view kFormType = "application/x-www-form-urlencoded";

/// `malformed-request` with every query parameter that is repeated or undeclared, and the nearest
/// declared one. Routes without authentication are exempt, because browsers, probes and providers
/// add their own parameters.
Result<void> check_query(const Route& route, const http::Request& request);

/// Media types of the route's body, JSON first if it is among them. The route must have a body.
std::vector<std::string_view> media_types(const Route& route);

/// Media type of the body without its parameters, in lower case; empty if the header is missing.
std::string media_type(const http::Request& request);

/// `unsupported-media-type` unless the body has a media type of the route.
Result<void> check_media_type(const Route& route, const http::Request& request);

}  // namespace coffer::api
