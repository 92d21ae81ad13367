// What a route row says of a request beside its body: query parameters and media types.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/pipeline/route.h"
#include "base/result.h"
#include "http/message.h"

namespace coffer::api {

inline constexpr std::string_view kFormType = "application/x-www-form-urlencoded";

/// `malformed-request` that names every query parameter which is repeated, or which the route does
/// not declare, with the nearest that it does. Routes that are open to anyone are exempt: browsers,
/// probes and providers add parameters of their own.
Result<void> check_query(const Route& route, const http::Request& request);

/// Media types of the route's body, JSON first. Not for a route without a body.
std::vector<std::string_view> media_types(const Route& route);

/// Media type of the body without its parameters, in lower case; empty when the header is missing.
std::string media_type(const http::Request& request);

/// `unsupported-media-type` unless the body has one of the route's media types.
Result<void> check_media_type(const Route& route, const http::Request& request);

}  // namespace coffer::api
