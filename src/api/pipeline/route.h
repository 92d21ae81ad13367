// A row of the route table. The router, the pipeline's checks before the handler, and the OpenAPI
// document all use it. There is no second list of routes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/limits/lane.h"
#include "base/result.h"
#include "domain/identity/tenant.h"
#include "http/json_body.h"
#include "http/message.h"
#include "http/router.h"

namespace coffer::api {

struct Services;

/// Required authentication (docs/contract.md#authentication).
enum class Access {
  open,         // none
  login,        // none, but throttled per client and address
  application,  // x-svc-auth and bearer token of one application with an association
  sandbox,      // the same, for a sandbox application; with production credentials: 404
  // Like `application`, but the token may also be that of a user of the association, or one that
  // the external issuer made for this application.
  business,
  connect,  // x-svc-auth is the connect secret, the bearer token an idToken of the same application
};

/// Whether the caller must authenticate.
bool is_guarded(Access access);

enum class Body { none, json, json_or_form, form, optional_json };

/// The input of a handler. References are valid until the handler returns.
struct Call {
  const http::Request& request;
  const http::PathParams& params;
  const http::JsonValue* body = nullptr;  // set if the request has a JSON body
  Caller caller;                          // set on guarded routes

  /// The value of a `{name}` segment of the route's pattern.
  std::string_view param(std::string_view name) const;
};

using Handler = Result<http::Response> (*)(const Services&, const Call&);

/// A query parameter, for the document and for the check of unknown parameters.
struct QueryParam {
  std::string_view name;
  std::string_view schema;  // name of a schema in web/openapi
  std::string_view description;
  bool required = false;
  std::optional<Lane> lane = {};  // for requests with this parameter; otherwise the route's lane
  bool keyed = false;             // given as `name[KEY]=VALUE`, once for each key

  /// Whether a request gives this parameter under the name `given`.
  bool is(std::string_view given) const {
    const bool has_key = given.starts_with(name) && given.substr(name.size()).starts_with('[');
    return given == name || (keyed && has_key && given.ends_with(']'));
  }
};

/// A status that the route can respond with.
struct DeclaredResponse {
  int status = 200;
  std::string_view schema = {};                      // for a success
  std::string_view media_type = "application/json";  // for a success with a schema
};

/// Has no default constructor, so a row without a lane does not compile.
struct RouteLane {
  constexpr RouteLane(Lane lane) : value(lane) {}
  constexpr operator Lane() const { return value; }
  Lane value;
};

/// Default maximum size of a request body. Larger bodies run in the lane `bulk`.
constexpr std::size_t kBodyBytesMax = 64 * 1024;

struct Route {
  std::string_view method;
  std::string_view pattern;
  std::string_view operation;  // operationId
  std::string_view tag;
  std::string_view summary;
  RouteLane lane;
  Access access = Access::application;
  std::optional<Scope> scope;
  // Uses the rate limit for money. The flow requires an active association, except for a replay.
  bool moves_money = false;
  bool needs_storage =
      true;               // if true, writes are rejected with storage-full when the disk is full
  bool envelope = false;  // business routes respond with their envelope
  Body body = Body::none;
  std::string_view request_schema = {};
  std::string_view type_remedy = {};  // continues the problem of another media type
  std::size_t string_max = 4096;      // characters of the longest string in the JSON body
  std::size_t body_bytes_max = kBodyBytesMax;
  std::vector<QueryParam> query = {};
  /// Successful responses.
  std::vector<DeclaredResponse> responses = {{200}};
  /// The problems specific to the route. `problems_of` adds those that result from access, query,
  /// body and the server.
  std::vector<Slug> problems = {};
  Handler handler = nullptr;
};

/// Makes routes that have a tag and their authentication in common.
struct RouteGroup {
  std::string_view tag;
  std::optional<Scope> reads = {};   // the scope of GET
  std::optional<Scope> writes = {};  // that of every other method
  Access access = Access::application;
  bool envelope = false;

  Route operator()(std::string_view method, std::string_view pattern, std::string_view operation,
                   std::string_view summary, RouteLane lane,
                   std::vector<DeclaredResponse> responses, std::vector<Slug> problems,
                   Handler handler) const;
};
/// `route`, which reads a body of this schema.
Route with_body(Route route, std::string_view schema, Body body = Body::json,
                std::size_t bytes_max = kBodyBytesMax);
Route with_query(Route route, std::vector<QueryParam> query);

/// All problems of a route and of the pipeline, in the order of the problem table.
std::vector<Slug> problems_of(const Route& route);
/// All statuses of a route, in ascending order: its successes and those of its problems.
std::vector<DeclaredResponse> responses_of(const Route& route);

}  // namespace coffer::api
