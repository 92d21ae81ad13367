// Every request of the API tests to a route of the document with its response: checked at once
// against the declarations of the route, and logged for tests/interop/openapi.py, which judges the
// bodies.
#pragma once

#include "api/pipeline/route.h"
#include "support/http_call.h"

namespace coffer::test {

/// The route that serves this request, with either prefix, or nullptr.
const api::Route* find_route(const HttpCall& call);

/// Fails the running test if the route does not declare the status or the problem of `reply`.
void observe(const HttpCall& call, const Reply& reply);

/// Failed assertions so far in this process; a test that sees it increase keeps its files.
int failed_assertions();

}  // namespace coffer::test
