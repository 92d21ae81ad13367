// Every exchange of the api tests with a route of the document: checked at once against what the
// route declares, and written down for tests/interop/openapi.py, which judges the bodies.
#pragma once

#include "api/pipeline/route.h"
#include "support/http_call.h"

namespace coffer::test {

/// The route that serves this request, under either mount; nullptr when none does.
const api::Route* find_route(const HttpCall& call);

/// Fails the running test when the route does not declare the status or the problem of `reply`.
void observe(const HttpCall& call, const Reply& reply);

/// Failed assertions so far in this process; a test that sees it rise keeps its files.
int failed_assertions();

}  // namespace coffer::test
