// One row of the route table: what the router matches, what the pipeline checks before the handler
// runs, and what the OpenAPI document says. There is no second list of routes.
#pragma once

#include <initializer_list>
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

/// Who may call (docs/contract.md#authentication).
enum class Access {
  open,         // anyone
  login,        // anyone, but throttled per client and address
  application,  // x-svc-auth and bearer of one application with an association
  sandbox,      // the same, of a sandbox application; anyone else: 404
  business,     // as application, or with the token of one of the association's users, or of the
                // external issuer for this application
  connect,      // x-svc-auth is the connect secret, the bearer an idToken of the same application
};

/// Whether a caller has to say who it is.
bool is_guarded(Access access);

enum class Body { none, json, json_or_form, optional_json };

/// What the handler gets. References live until it returns.
struct Call {
  const http::Request& request;
  const http::PathParams& params;
  const http::JsonValue* body = nullptr;  // set when the route takes JSON and was given some
  Caller caller;                          // filled on guarded routes

  /// A `{name}` of the route's pattern.
  std::string_view param(std::string_view name) const;
};

using Handler = Result<http::Response> (*)(const Services&, const Call&);

/// A query parameter, for the document and for the check that no unknown one is mistaken.
struct QueryParam {
  std::string_view name;
  std::string_view schema;  // name of a schema in web/openapi/components.json
  std::string_view description;
  bool required = false;
  std::optional<Lane> lane = {};  // of requests that have the parameter; else the route's
};

/// One status a route can answer with.
struct DeclaredResponse {
  int status = 200;
  std::string_view schema = {};                      // of a success
  std::string_view media_type = "application/json";  // of a success with a schema
};

/// A query that turns an operation into another one of the document: `?validateOnly=true` of a
/// payment is what its `/validate` route does. The server takes both; the document describes each
/// success at an operation of its own, so that a generated client gets one type from one call.
struct QueryVariant {
  std::string_view parameter;
  std::string_view value;
  std::string_view operation;
};

/// Has no default: a row that names no lane does not compile.
struct RouteLane {
  constexpr RouteLane(Lane lane) : value(lane) {}
  constexpr operator Lane() const { return value; }
  Lane value;
};

/// Of a request body, unless the route says otherwise. What is larger runs in the lane `bulk`.
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
  bool moves_money = false;  // needs an active association; draws on the money bucket
  bool needs_storage =
      true;               // unless a GET: is refused with storage-full when nothing can be stored
  bool envelope = false;  // business routes answer with the response envelope
  Body body = Body::none;
  std::string_view request_schema = {};
  std::string_view form_schema = {};  // of a form, with Body::json_or_form
  std::size_t string_max = 4096;      // characters of the longest string in the JSON body
  std::size_t body_bytes_max = kBodyBytesMax;
  std::vector<QueryParam> query = {};
  std::vector<QueryVariant> variants = {};
  /// Successes.
  std::vector<DeclaredResponse> responses = {{200}};
  /// This route's own problems. Those that follow from access, query, body and the server itself
  /// are added by `problems_of`.
  std::vector<Slug> problems = {};
  Handler handler = nullptr;
};

/// Every problem of a route, in the order of the problem table: its own and those that the pipeline
/// adds.
std::vector<Slug> problems_of(const Route& route);
/// Every status of a route, in ascending order: its successes, those of its variants and those of
/// its problems.
std::vector<DeclaredResponse> responses_of(const Route& route);

}  // namespace coffer::api
