#include "api/pipeline/pipeline.h"

#include <algorithm>
#include <span>

#include "api/pipeline/problem_format.h"
#include "api/pipeline/request_checks.h"
#include "api/pipeline/routes.h"
#include "base/fault.h"
#include "base/telemetry/log.h"
#include "base/telemetry/metrics.h"
#include "base/text/nearest.h"
#include "base/text/next_part.h"
#include "store/database.h"

namespace coffer::api {
namespace {

constexpr std::string_view kVersion = "/v1/";

std::vector<http::RoutePattern> patterns() {
  std::vector<http::RoutePattern> out;
  for (const Route& route : routes()) {
    out.push_back({std::string(route.method), std::string(route.pattern)});
  }
  return out;
}

Problem nothing_here() { return Problem(Slug::not_found, "This path does not exist."); }

/// Whether the path that was asked for is near to the pattern in each of its parts. A parameter
/// accepts any text, so only the fixed parts count: a long parameter would otherwise excuse a slip
/// in them that makes them other words.
bool is_near(std::span<const std::string_view> given, std::span<const std::string_view> pattern) {
  return std::ranges::equal(given, pattern, [](std::string_view word, std::string_view part) {
    return part.starts_with('{') ? !word.empty() : nearest(word, {&part, 1}).has_value();
  });
}

/// The same, with the path that was probably meant.
Problem nothing_here(std::string_view path) {
  const auto parts_in = [](std::string_view text) { return parts_of<std::string_view>(text, '/'); };
  std::string asked(path);
  if (!asked.starts_with(kVersion)) asked.insert(0, kVersion.substr(0, kVersion.size() - 1));
  const auto given = parts_in(asked);
  std::vector<std::string> paths;  // with the given parameters
  std::vector<std::string_view> patterns;
  for (const Route& route : routes()) {
    const auto parts = parts_in(route.pattern);
    if (!is_near(given, parts)) continue;
    std::string& candidate = paths.emplace_back();
    for (std::size_t i = 1; i < parts.size(); ++i) {
      candidate.append("/").append(parts[i].starts_with('{') ? given[i] : parts[i]);
    }
    patterns.push_back(route.pattern);
  }
  const std::vector<std::string_view> known(paths.begin(), paths.end());
  Problem problem = nothing_here();
  if (const auto near = nearest(asked, known)) {
    const auto at = std::ranges::find(known, *near) - known.begin();
    problem.detail +=
        " The nearest is " + std::string(patterns[static_cast<std::size_t>(at)]) + ".";
  }
  return problem;
}

/// The reader pool of a lane's handlers. Handlers that read a few rows around a commit, a call or a
/// password share the readers of the lane `money`.
store::Readers readers_of(Lane lane) {
  switch (lane) {
    case Lane::system:
      return store::Readers::system;
    case Lane::read:
      return store::Readers::read;
    case Lane::search:
      return store::Readers::search;
    case Lane::exports:
      return store::Readers::exports;
    case Lane::admin:
      return store::Readers::control;
    case Lane::money:
    case Lane::outbound:
    case Lane::password:
    case Lane::bulk:
      return store::Readers::money;
  }
  throw InternalError("unknown lane");
}

/// Makes a streamed body use these readers too, because it is written after the handler has
/// returned.
void read_through(store::Readers readers, http::Response& response) {
  if (!response.stream) return;
  response.stream = [readers, stream = std::move(response.stream)](const http::Sink& sink) {
    const store::ReadersScope scope(readers);
    return stream(sink);
  };
}

/// RFC 6750 section 3.1.
std::string scope_challenge(Scope scope) {
  return R"(Bearer realm="coffer", error="insufficient_scope", scope=")" +
         std::string(name(scope)) + '"';
}

/// Maximum size of a body that no route reads; a larger one is rejected before it arrives.
constexpr std::size_t kUnreadBodyMax = 4 * 1024;

}  // namespace

bool Health::ok() const {
  return std::ranges::all_of(checks, [](const Check& check) { return check.ok; });
}

std::string_view Call::param(std::string_view name) const {
  for (const auto& [key, value] : params) {
    if (key == name) return value;
  }
  throw InternalError("route has no parameter " + std::string(name));
}

bool is_guarded(Access access) {
  switch (access) {
    case Access::open:
    case Access::login:
      return false;
    case Access::application:
    case Access::sandbox:
    case Access::business:
    case Access::connect:
      return true;
  }
  throw InternalError("unknown access");
}

Route RouteGroup::operator()(std::string_view method, std::string_view pattern,
                             std::string_view operation, std::string_view summary, RouteLane lane,
                             std::vector<DeclaredResponse> responses, std::vector<Slug> problems,
                             Handler handler) const {
  return {.method = method,
          .pattern = pattern,
          .operation = operation,
          .tag = tag,
          .summary = summary,
          .lane = lane,
          .access = access,
          .scope = method == "GET" ? reads : writes,
          .envelope = envelope,
          .responses = std::move(responses),
          .problems = std::move(problems),
          .handler = handler};
}

Route with_body(Route route, std::string_view schema, Body body, std::size_t bytes_max) {
  route.body = body;
  route.request_schema = schema;
  route.body_bytes_max = bytes_max;
  return route;
}

Route with_query(Route route, std::vector<QueryParam> query) {
  route.query = std::move(query);
  return route;
}

std::vector<Slug> problems_of(const Route& route) {
  std::vector<Slug> out = route.problems;
  const auto add = [&](std::initializer_list<Slug> slugs) {
    out.insert(out.end(), slugs.begin(), slugs.end());
  };
  if (route.pattern.starts_with(kVersion)) {
    add({Slug::malformed_request, Slug::unexpected_error, Slug::overloaded, Slug::not_leader});
  }
  if (is_guarded(route.access)) {
    add({Slug::unauthorized, Slug::token_expired, Slug::no_association, Slug::insufficient_scope});
  }
  if (route.access != Access::open) add({Slug::rate_limited});
  if (route.access == Access::sandbox) add({Slug::not_found});
  if (route.access == Access::business) add({Slug::token_verification_timeout});
  if (route.moves_money) add({Slug::forbidden, Slug::association_suspended});
  if (route.body != Body::none) add({Slug::payload_too_large, Slug::unsupported_media_type});
  if (route.method != "GET" && route.needs_storage) add({Slug::storage_full});
  const auto continues = [](const QueryParam& param) { return param.name == "cursor"; };
  if (std::ranges::any_of(route.query, continues)) add({Slug::invalid_cursor});
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<DeclaredResponse> responses_of(const Route& route) {
  std::vector<DeclaredResponse> out = route.responses;
  const auto add = [&](const DeclaredResponse& declared) {
    const auto same = [&](const DeclaredResponse& known) {
      return known.status == declared.status;
    };
    if (std::ranges::none_of(out, same)) out.push_back(declared);
  };
  for (const Slug slug : problems_of(route)) add({info(slug).status});
  std::ranges::sort(out, [](const DeclaredResponse& a, const DeclaredResponse& b) {
    return a.status < b.status;
  });
  return out;
}

Pipeline::Pipeline(Services& services)
    : services_(services), router_(patterns()), traffic_(services.flows.metrics, routes()) {}

/// The admission of a request according to the route table: its route, lane and body limit.
http::Admission Pipeline::place(const http::Request& head) const {
  http::Admission out;
  out.route = router_.match(head.method, canonical_path(head.path));
  switch (out.route.kind) {
    case http::RouteMatch::Kind::found:
      out.lane = lane_of(out.route.index, head);
      out.body_bytes_max = routes()[out.route.index].body_bytes_max;
      break;
    case http::RouteMatch::Kind::not_found:
      out.body_bytes_max = kUnreadBodyMax;
      break;
    case http::RouteMatch::Kind::method_not_allowed:
      break;
  }
  return out;
}

Result<http::Admission> Pipeline::admit(const http::Request& head, std::uint64_t body_bytes) const {
  http::Admission out = place(head);
  out.caller = services_.authenticator.lane_caller(head);
  if (out.route.kind != http::RouteMatch::Kind::found) {
    const bool is_nowhere = out.route.kind == http::RouteMatch::Kind::not_found;
    if (is_nowhere && body_bytes > kUnreadBodyMax) return unexpected(nothing_here());
    return out;
  }
  const Route& route = routes()[out.route.index];
  // An open route has no application, regardless of the credentials in the request.
  if (route.access == Access::open) out.caller.is_application = false;
  const bool is_large = body_bytes > kBodyBytesMax && body_bytes <= route.body_bytes_max;
  if (is_large && is_guarded(route.access)) {
    // The thread that reads all requests waits here, so not for a reader of payments.
    const store::ReadersScope scope(store::Readers::system);
    COFFER_TRY_VOID(services_.authenticator.authenticate(head, route.access));
  }
  return out;
}

Lane Pipeline::lane_of(std::size_t route, const http::Request& head) const {
  for (const QueryParam& param : routes()[route].query) {
    if (!param.lane) continue;
    const std::string* given = head.query_value(param.name);
    if (given != nullptr && !given->empty()) return *param.lane;
  }
  return routes()[route].lane;
}

http::Response Pipeline::render(const Problem& problem, const http::Request& request) const {
  http::Response response = respond(problem, request);
  permit_any_origin(request.path, {}, response);
  return response;
}

http::Response Pipeline::respond(const Problem& problem, const http::Request& request) const {
  return format_problem(services_, problem, request.path, request.request_id, &request);
}

/// Logs all details and sends none to the client.
http::Response Pipeline::unexpected_fault(const char* what, const http::Request& request) const {
  log_error("api", "request failed",
            {{"error", what},
             {"request_id", request.request_id},
             {"method", request.method},
             {"path", request.path}});
  return respond(Problem(Slug::unexpected_error, "The request could not be completed."), request);
}

http::Response Pipeline::handle(http::Request& request) const {
  const Stopwatch watch;
  RequestTrace trace;
  http::Response response;
  try {
    response = route(request, trace);
  } catch (const std::exception& error) {
    response = unexpected_fault(error.what(), request);
    trace.problem = Slug::unexpected_error;
  }
  const bool asks = request.method == "OPTIONS" && request.admitted;
  permit_any_origin(request.path, asks ? request.admitted->route.allow : "", response);
  const std::int64_t us = watch.elapsed_us();
  traffic_.note(trace.route, response.status, us);
  if (services_.request_log != nullptr) {
    services_.request_log->note(request, response, trace, us);
  }
  if (log_enabled(LogLevel::debug)) {
    log_debug("api", "request",
              {{"request_id", request.request_id},
               {"method", request.method},
               {"path", request.path},
               {"operation", trace.route == nullptr ? "" : trace.route->operation},
               {"status", response.status},
               {"duration_us", us}});
  }
  return response;
}

http::Response Pipeline::route(http::Request& request, RequestTrace& trace) const {
  COFFER_FAULT("pipeline.route");
  // The request did not come through the listener, which would have admitted it.
  if (!request.admitted) request.admitted = place(request);
  const http::RouteMatch& match = request.admitted->route;
  if (match.kind == http::RouteMatch::Kind::not_found) {
    trace.problem = Slug::not_found;
    return respond(nothing_here(canonical_path(request.path)), request);
  }
  if (request.method == "OPTIONS") {
    http::Response response;
    response.status = 204;
    return response.header("Allow", std::string(match.allow));
  }
  if (match.kind == http::RouteMatch::Kind::method_not_allowed) {
    trace.problem = Slug::method_not_allowed;
    http::Response response = respond(
        Problem(Slug::method_not_allowed, "This path accepts " + std::string(match.allow) + "."),
        request);
    return response.header("Allow", std::string(match.allow));
  }
  trace.route = &routes()[match.index];
  const store::Readers readers = readers_of(request.admitted->lane);
  const store::ReadersScope scope(readers);
  std::vector<std::pair<std::string, std::string>> headers;
  auto result = run(trace, request, match.params, headers);
  if (!result) trace.problem = result.error().slug;
  if (!result && result.error().slug == Slug::unexpected_error) {
    log_error("api", "request failed",
              {{"error", result.error().detail},
               {"request_id", request.request_id},
               {"method", request.method},
               {"path", request.path}});
  }
  http::Response response = result ? *std::move(result) : respond(result.error(), request);
  read_through(readers, response);
  for (auto& [name, value] : headers) response.header(std::move(name), std::move(value));
  return response;
}

Result<http::Response> Pipeline::run(
    RequestTrace& trace, const http::Request& request, const http::PathParams& params,
    std::vector<std::pair<std::string, std::string>>& headers) const {
  const Route& route = *trace.route;
  Call call{request, params, nullptr, {}};
  if (is_guarded(route.access)) {
    COFFER_TRY(call.caller, identify(trace, request, headers));
  }
  auto result = answer(route, request, call);
  // An association that is not active can only repeat what was accepted.
  constexpr int kServerErrors = 500;
  if (!result && route.moves_money && info(result.error().slug).status < kServerErrors) {
    COFFER_TRY_VOID(require_active(call.caller.association_status));
  }
  return result;
}

Result<http::Response> Pipeline::answer(const Route& route, const http::Request& request,
                                        Call& call) const {
  if (COFFER_FAULT_FAILS("pipeline.overloaded")) {
    return unexpected(overloaded("The server is overloaded."));
  }
  COFFER_FAULT("pipeline.handler");
  if (request.bad_query) {
    return unexpected(Slug::malformed_request,
                      "The query has an invalid percent escape, a NUL or invalid UTF-8.");
  }
  COFFER_TRY_VOID(check_query(route, request));
  if (route.body == Body::none) return route.handler(services_, call);
  if (route.body == Body::optional_json && request.body.empty()) {
    return route.handler(services_, call);
  }
  COFFER_TRY_VOID(check_media_type(route, request));
  if (media_type(request) == kFormType) return route.handler(services_, call);
  COFFER_TRY(const http::JsonValue body,
             http::parse_json(request.body, {.string_max = route.string_max}));
  call.body = &body;
  return route.handler(services_, call);
}

Result<Caller> Pipeline::identify(RequestTrace& trace, const http::Request& request,
                                  std::vector<std::pair<std::string, std::string>>& headers) const {
  const Route& route = *trace.route;
  COFFER_TRY(Caller caller, services_.authenticator.authenticate(request, route.access));
  trace.caller = caller;
  if (route.access == Access::sandbox && caller.tenant.environment != Environment::sandbox) {
    return unexpected(nothing_here());
  }
  COFFER_TRY_VOID(services_.limiter.admit(caller, route.moves_money, headers));
  if (route.scope) {
    auto allowed = require_scope(caller, *route.scope);
    if (!allowed) {
      headers.emplace_back("WWW-Authenticate", scope_challenge(*route.scope));
      return unexpected(std::move(allowed).error());
    }
  }
  return caller;
}

}  // namespace coffer::api
