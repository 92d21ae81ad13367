// Examples for the OpenAPI document: recorded exchanges, and values generated from the schemas and
// the problem table.
#pragma once

#include <string_view>

#include "api/json/json.h"
#include "base/problem.h"

namespace coffer::api {

/// An example value of `schema`: its own example if it has one, otherwise composed of its parts.
/// Objects contain required members and members with their own example. `schemas` are the named
/// schemas.
Json example_of(const Json& schema, const Json& schemas);

/// The recorded exchanges of an operation (web/openapi/examples.ndjson): `request`, `responses` by
/// status, and a `problem` with `status` and `body`; for the operation `event.TYPE`, only `body`.
/// Empty for an operation without a recorded exchange.
const Json& recorded_example(std::string_view operation);

/// The response of this problem, optionally in the envelope of the business routes.
Json problem_example(Slug slug, bool envelope);

}  // namespace coffer::api
