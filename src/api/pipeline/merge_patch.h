// JSON Merge Patch (RFC 7396), for PATCH routes.
#pragma once

#include "http/json_body.h"

namespace coffer::api {

/// `target` with `patch` applied: objects are merged by member, null removes a member, and any
/// other value (including arrays) replaces the previous value. The result nests no deeper than both
/// bodies.
http::JsonValue merge_patch(http::JsonValue target, const http::JsonValue& patch);

}  // namespace coffer::api
