// JSON Merge Patch (RFC 7396), for PATCH routes.
#pragma once

#include "http/json_body.h"

namespace coffer::api {

/// `target` with `patch` applied: objects merge member by member, a null removes its member,
/// anything else (arrays too) replaces what was there. Nests no deeper than the two bodies do.
http::JsonValue merge_patch(http::JsonValue target, const http::JsonValue& patch);

}  // namespace coffer::api
