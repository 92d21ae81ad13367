#include "api/about/pages.h"
#include "api/json/json.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"

namespace coffer::api {
namespace {

/// Responds as long as the process runs, without further checks.
Result<http::Response> live(const Services&, const Call&) {
  return json_response(200, {{"status", "ok"}});
}

/// 200 only while the server can accept payments, and never for those who ask for a follower
/// (app/standby.h). The body lists all checks, and details that need attention.
Result<http::Response> ready(const Services& services, const Call& call) {
  Health health = services.health();
  const std::string* role = call.request.query_value("role");
  if (role != nullptr && *role != "leader") health.checks.push_back({"role", false});
  Json checks = Json::object();
  for (const Health::Check& check : health.checks) checks[check.name] = check.ok ? "ok" : "failed";
  Json body{{"status", health.ok() ? "ok" : "unavailable"}, {"checks", checks}};
  if (health.leads) {
    body.update(Json{{"role", "leader"},
                     {"position", health.leads->position},
                     {"epoch", health.leads->epoch},
                     {"lagMs", 0}});
  }
  for (const auto& [name, sentence] : health.details) body["details"][name] = sentence;
  http::Response response = json_response(health.ok() ? 200 : 503, body);
  if (!health.ok()) response.header("Retry-After", "2");
  return response;
}

}  // namespace

std::vector<Route> health_routes() {
  return {
      about("/livez", "live", "Whether the process responds", live),
      about("/healthz", "ready", "Whether the server can accept payments", ready, {{200}, {503}}),
      about("/readyz", "readyz", "Alias of /healthz", ready, {{200}, {503}})};
}

}  // namespace coffer::api
