// Examples for the OpenAPI document, made from its own schemas and from the problem table.
#pragma once

#include "api/json.h"
#include "base/problem.h"

namespace coffer::api {

/// A value of `schema`: its own example where it has one, else composed of its parts. Objects show
/// what is required, and what has an example of its own. `schemas` are the named ones.
Json example_of(const Json& schema, const Json& schemas);

/// What an API client gets for this problem; as the envelope of the business routes on request.
Json problem_example(Slug slug, bool envelope);

}  // namespace coffer::api
