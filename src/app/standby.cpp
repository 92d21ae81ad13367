#include "app/standby.h"

#include "api/json/json.h"
#include "app/service/supervisor.h"
#include "base/platform/lease.h"
#include "http/problem_json.h"

namespace coffer {
namespace {

constexpr std::int64_t kNotifyEveryMs = 1'000;
constexpr int kRetryAfterS = 2;

http::ServerOptions options_of(const Config& config) {
  http::ServerOptions options;
  options.host = config.listen_http.host;
  options.port = config.listen_http.port;
  options.listen_fd = kept_socket(config.listen_http);
  options.workers = 2;
  options.tls_cert_file = config.tls_cert;
  options.tls_key_file = config.tls_key;
  options.tls_client_ca_file = config.tls_client_ca;
  return options;
}

}  // namespace

Standby::Standby(const Config& config, Random& random)
    : server_(options_of(config), random,
              [this](http::Request& request) { return respond(request); }) {}

void Standby::note(const store::Following& state) {
  {
    const Lock lock(mutex_);
    state_ = state;
  }
  const std::int64_t now = boot_ms();
  if (now - notified_ms_ < kNotifyEveryMs) return;
  notify_supervisor(notified_ms_ == 0 ? "READY=1\nSTATUS=Following another machine" : "WATCHDOG=1");
  notified_ms_ = now;
}

http::Response Standby::respond(const http::Request& request) const {
  if (request.method == "GET" || request.method == "HEAD") {
    if (request.path == "/livez") return api::json_response(200, {{"status", "ok"}});
    if (request.path == "/healthz" || request.path == "/readyz") {
      const std::string* role = request.query_value("role");
      return health(role != nullptr && *role == "follower");
    }
  }
  std::string leader;
  {
    const Lock lock(mutex_);
    leader = state_.leader;
  }
  Problem problem(Slug::overloaded,
                  "This machine does not lead the ledger. Send the request to the leader" +
                      (leader.empty() ? "." : ", " + leader + "."));
  return http::problem_response(std::move(problem).retry_after(kRetryAfterS), request.path,
                                request.request_id);
}

/// 200 only for those who ask for a follower.
http::Response Standby::health(bool of_follower) const {
  const Lock lock(mutex_);
  http::Response out =
      api::json_response(of_follower ? 200 : 503, {{"status", of_follower ? "ok" : "unavailable"},
                                                   {"role", "follower"},
                                                   {"leader", state_.leader},
                                                   {"position", state_.at.seq},
                                                   {"epoch", state_.at.epoch},
                                                   {"idleMs", state_.idle_ms}});
  if (!of_follower) out.header("Retry-After", std::to_string(kRetryAfterS));
  return out;
}

}  // namespace coffer
