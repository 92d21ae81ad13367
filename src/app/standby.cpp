#include "app/standby.h"

#include "api/json/json.h"
#include "api/pipeline/problem_format.h"
#include "app/listeners.h"
#include "app/service/supervisor.h"
#include "base/platform/lease.h"
#include "base/telemetry/log.h"
#include "http/problem_json.h"
#include "store/schema.h"

namespace coffer {
namespace {

constexpr std::int64_t kNotifyEveryMs = 1'000;
constexpr std::uint64_t kLogBytesMax = 128 << 20;
constexpr std::int64_t kLookEveryMs = 1'000;

bool only_reads(const http::Request& request) {
  return request.method == "GET" || request.method == "HEAD";
}

bool is_of_the_api(const http::Request& request) {
  return api::canonical_path(request.path).starts_with("/v1/");
}

/// Without what is for leaders only: other machines may call this one's callbacks.
Config for_reading(Config config) {
  config.backup_dir.clear();
  config.archive.clear();
  return config;
}

/// Whether the leader's version writes the schema of this one.
bool has_own_schema(App& app) {
  const auto version =
      app.flows().read([](store::Connection& db) { return store::read_marks(db).schema_version; });
  return version && *version == store::schema_version();
}

/// In milliseconds; also grows while the log is silent.
std::int64_t lag_of(const store::Following& state) { return boot_ms() - state.current_ms; }

bool is_current(const store::Following& state) {
  return state.at.seq > 0 && lag_of(state) < store::kLagMaxMs;
}

}  // namespace

Standby::Standby(const Config& config, const Clock& clock, Random& random)
    : config_(for_reading(config)),
      clock_(clock),
      random_(random),
      server_(
          [&] {
            http::ServerOptions options = api_listener_options(config);
            options.admit = [this](const http::Request& head, std::uint64_t body_bytes) {
              return admit(head, body_bytes);
            };
            return options;
          }(),
          random, [this](http::Request& request) { return respond(request); }) {}

std::string Standby::leader() const {
  const Lock lock(mutex_);
  return state_.leader;
}

void Standby::note(const store::Following& state) {
  if (state.file == nullptr) {
    server_.stop(config_.drain_s * 1'000);
    file_.reset();
    return;
  }
  bool grew = false;
  {
    const Lock lock(mutex_);
    grew = state_.at != state.at;
    state_ = state;
  }
  if (file_ && grew) file_->database().note_followed();
  if (boot_ms() - looked_ms_ >= kLookEveryMs) {
    log_lag(state);
    look_at_file(state);
    looked_ms_ = boot_ms();
  }
  const std::int64_t now = boot_ms();
  if (now - notified_ms_ < kNotifyEveryMs) return;
  notify_supervisor(notified_ms_ == 0 ? "READY=1\nSTATUS=Following another machine" : "WATCHDOG=1");
  notified_ms_ = now;
}

/// Alerts are rows that the leader writes, which asks each follower for its state.
void Standby::log_lag(const store::Following& state) {
  const bool lags = !is_current(state);
  if (lags == is_lagging_) return;
  is_lagging_ = lags;
  const LogFields fields{{"position", state.at.seq}, {"leader", state.leader}};
  lags ? log_warning("replication", "this machine is no longer up to date", fields)
       : log_info("replication", "this machine is up to date", fields);
}

/// Without a place in the log, without the file's keys, or with another schema, there are no reads.
void Standby::look_at_file(const store::Following& state) {
  if (!file_ && state.at.seq > 0) {
    StartError error;
    file_ = App::open(config_, clock_, random_, error, App::Missing::refuse, {},
                      {.beside = state.file, .leader = [this] { return leader(); }});
    if (!file_) log_debug("replication", "cannot be read yet", {{"problem", error.message}});
  }
  if (!file_) return;
  // The write-ahead log cannot restart while there are always some readers.
  const bool has_room = file_->database().wal_bytes() < kLogBytesMax;
  readable_ = has_room && has_own_schema(*file_) ? file_.get() : nullptr;
  file_->database().interrupt_stale_readers();
  file_->database().close_idle_readers();
}

Result<http::Admission> Standby::admit(const http::Request& head, std::uint64_t body_bytes) const {
  App* const app = readable_;
  if (app == nullptr || !only_reads(head)) return http::Admission();
  return app->pipeline().admit(head, body_bytes);
}

http::Response Standby::respond(http::Request& request) const {
  App* const app = readable_;
  if (only_reads(request)) {
    if (request.path == "/livez") return api::json_response(200, {{"status", "ok"}});
    if (request.path == "/healthz" || request.path == "/readyz") {
      const std::string* role = request.query_value("role");
      return health(role != nullptr && *role == "follower");
    }
    if (app != nullptr && is_of_the_api(request)) return read(*app, request);
  }
  const Problem problem = not_leader(leader());
  if (app != nullptr) return app->pipeline().render(problem, request);
  return http::problem_response(problem, request.path, request.request_id);
}

/// The position is read first, so the file has at least that.
http::Response Standby::read(App& app, http::Request& request) const {
  std::int64_t position = 0;
  {
    const Lock lock(mutex_);
    position = state_.at.seq;
  }
  http::Response out = app.pipeline().handle(request);
  out.header("X-Coffer-Position", std::to_string(position));
  return out;
}

/// 200 only for those who ask for a follower, and only if it is up to date.
http::Response Standby::health(bool of_follower) const {
  const Lock lock(mutex_);
  const bool ok = of_follower && is_current(state_);
  http::Response out = api::json_response(ok ? 200 : 503, {{"status", ok ? "ok" : "unavailable"},
                                                           {"role", "follower"},
                                                           {"leader", state_.leader},
                                                           {"position", state_.at.seq},
                                                           {"epoch", state_.at.epoch},
                                                           {"lagMs", lag_of(state_)}});
  if (!ok) out.header("Retry-After", "2");
  return out;
}

}  // namespace coffer
