// The route table of the whole API.
#pragma once

#include <vector>

#include "api/pipeline/route.h"

namespace coffer::api {

/// All routes, in the order of the document. Router, pipeline, OpenAPI document and generated tests
/// read this table; there is no second list.
const std::vector<Route>& routes();

/// A `{name}` segment of a pattern, and the schema of its values.
struct PathParam {
  std::string_view name;
  std::string_view schema;
  std::string_view description;
};
/// Throws InternalError for an unknown name.
const PathParam& find_path_param(std::string_view name);

/// The row of an operation. Throws InternalError for an unknown operation.
const Route& find_operation(std::string_view operation);

}  // namespace coffer::api
