// Examples for the OpenAPI document, generated from its schemas and the problem table.
#pragma once

#include "api/json.h"
#include "base/problem.h"

namespace coffer::api {

/// An example value of `schema`: its own example if it has one, otherwise composed of its parts.
/// Objects contain required members and members with their own example. `schemas` are the named
/// schemas.
Json example_of(const Json& schema, const Json& schemas);

/// The response of this problem, optionally in the envelope of the business routes.
Json problem_example(Slug slug, bool envelope);

}  // namespace coffer::api
