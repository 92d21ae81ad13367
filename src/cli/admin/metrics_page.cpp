#include "cli/admin/metrics_page.h"

#include <algorithm>
#include <map>

#include "app.h"
#include "base/digest.h"
#include "base/telemetry/log_file.h"
#include "base/telemetry/process.h"
#include "embedded/embedded.h"
#include "flows/identity/quotas.h"
#include "http/client_address.h"

namespace coffer::cli {
namespace {

using Kind = Exposition::Kind;

constexpr std::int64_t kKeptMs = 1'000;
constexpr double kMsPerSecond = 1e3;

/// Compared by digests, so that neither content nor length of the token shows in the time.
bool has_token(const http::Request& request, const Secret& token) {
  constexpr std::string_view kScheme = "Bearer ";
  const std::string* given = request.header("Authorization");
  if (given == nullptr || !given->starts_with(kScheme)) return false;
  const auto mine = sha256(token.reveal());
  const auto theirs = sha256(std::string_view(*given).substr(kScheme.size()));
  return equal_constant_time(as_text(mine), as_text(theirs));
}

double number(auto value) { return static_cast<double>(value); }

/// Seconds since `then`; 0 where there is nothing, or it is still to come.
double age(Timestamp now, const std::optional<Timestamp>& then) {
  return then ? number(std::max<std::int64_t>(0, now.ms - then->ms)) / kMsPerSecond : 0;
}

void write_build(Exposition& out) {
  out.family("coffer_build_info", "Version, commit and SQLite of this build.", Kind::gauge);
  out.sample(1, {{"version", embedded::version()},
                 {"commit", embedded::commit()},
                 {"sqlite", store::sqlite_version()}});
}

void write_health(Exposition& out, const api::Health& health) {
  out.gauge("coffer_ready", "Whether /healthz says that payments can be taken.", health.ok());
  out.family("coffer_health_check", "Each check of /healthz: 1 holds, 0 does not.", Kind::gauge);
  for (const api::Health::Check& check : health.checks)
    out.sample(check.ok, {{"check", check.name}});
}

void write_verification(Exposition& out, const App& app) {
  out.gauge("coffer_invariants_hold", "Whether the last verification of the ledger found no fault.",
            app.invariants_hold());
  out.gauge("coffer_invariants_checked_timestamp_seconds",
            "When the ledger was last verified; 0: not since the start.",
            number(app.verified_at().ms) / kMsPerSecond);
}

void write_schedule(Exposition& out, const Config& config) {
  constexpr double kSecondsPerHour = 3'600;
  out.gauge("coffer_backup_interval_seconds",
            "Time from one scheduled backup to the next; 0: none are scheduled.",
            config.backup_dir.empty() ? 0 : config.backup_every_h * kSecondsPerHour);
}

void write_server(Exposition& out, const App& app) {
  struct Listener {
    std::string_view name;
    std::optional<http::ServerStats> stats;
  };
  const std::array<Listener, 2> listeners = {
      {{"api", app.server_stats()}, {"admin", app.admin_server_stats()}}};
  out.family("coffer_http_connections", "Open connections, by what they wait for.", Kind::gauge);
  for (const auto& [name, stats] : listeners) {
    if (!stats) continue;
    out.sample(number(stats->parked), {{"listener", name}, {"state", "parked"}});
    out.sample(number(stats->queued), {{"listener", name}, {"state", "queued"}});
    out.sample(number(stats->busy), {{"listener", name}, {"state", "busy"}});
  }
  out.family("coffer_http_received_total", "Whole requests received.", Kind::counter);
  for (const auto& [name, stats] : listeners) {
    if (stats) out.sample(number(stats->requests), {{"listener", name}});
  }
  out.family("coffer_http_refused_total",
             "Requests refused before any route: malformed, too large, too slow, or no room.",
             Kind::counter);
  for (const auto& [name, stats] : listeners) {
    if (stats) out.sample(number(stats->refused), {{"listener", name}});
  }
  out.family("coffer_http_gave_way_total", "Idle connections closed to make room for new ones.",
             Kind::counter);
  for (const auto& [name, stats] : listeners) {
    if (stats) out.sample(number(stats->gave_way), {{"listener", name}});
  }
}

void write_lanes(Exposition& out, const App& app) {
  const auto stats = app.server_stats();
  if (!stats) return;
  out.family("coffer_lane_requests", "Requests of a lane that run or wait for it.", Kind::gauge);
  for (std::size_t i = 0; i < kLaneCount; ++i) {
    const std::string_view lane = name(static_cast<Lane>(i));
    out.sample(number(stats->lanes[i].running), {{"lane", lane}, {"state", "running"}});
    out.sample(number(stats->lanes[i].waiting), {{"lane", lane}, {"state", "waiting"}});
  }
  out.family("coffer_lane_refused_total",
             "Requests refused because their lane, or their caller's share of it, was full.",
             Kind::counter);
  for (std::size_t i = 0; i < kLaneCount; ++i) {
    out.sample(number(stats->lanes[i].refused), {{"lane", name(static_cast<Lane>(i))}});
  }
}

void write_store(Exposition& out, App& app) {
  const store::CommitStats commits = app.queue().stats();
  out.gauge("coffer_commit_queue_commands", "Commands that wait for the writer.",
            number(commits.queued));
  out.gauge("coffer_storage_full", "Whether writes are refused because the disk is full.",
            commits.storage_full);
  out.gauge(
      "coffer_clock_behind_seconds",
      "How far the machine's clock is behind the time of the records; 0 unless it was set back.",
      number(commits.clock_behind_ms) / kMsPerSecond);
  const store::Database& database = app.database();
  out.gauge("coffer_database_size_bytes", "Size of the database file.",
            number(database.file_bytes()));
  out.gauge("coffer_wal_size_bytes", "Size of the write-ahead log.", number(database.wal_bytes()));
  out.gauge("coffer_disk_free_bytes", "What the disk of the database still offers.",
            number(database.free_bytes()));
  out.gauge("coffer_disk_floor_bytes", "Below this much free disk writes are refused.",
            number(static_cast<std::uint64_t>(app.config().disk_floor_mib) << 20));
  const std::vector<store::ReaderStats> readers = database.reader_stats();
  out.family("coffer_readers_leased", "Reading connections in use.", Kind::gauge);
  for (const auto& pool : readers) out.sample(pool.leased, {{"pool", pool.pool}});
  out.family("coffer_readers_limit", "Reading connections there may be.", Kind::gauge);
  for (const auto& pool : readers) out.sample(pool.size, {{"pool", pool.pool}});
  out.family("coffer_readers_refused_total", "Reads refused because no connection came free.",
             Kind::counter);
  for (const auto& pool : readers) out.sample(number(pool.refused), {{"pool", pool.pool}});
}

struct Queue {
  std::string_view name;
  const store::Waiting& waiting;
};

void write_queues(Exposition& out, const store::Backlog& backlog, Timestamp now) {
  const std::array<Queue, 4> queues = {{{"settlement", backlog.settlement},
                                        {"providers", backlog.providers},
                                        {"webhooks", backlog.deliveries},
                                        {"notifications", backlog.notifications}}};
  out.family("coffer_queue_waiting", "Jobs that wait, by queue; 20000 stands for any more.",
             Kind::gauge);
  for (const Queue& queue : queues)
    out.sample(number(queue.waiting.count), {{"queue", queue.name}});
  out.family("coffer_queue_lateness_seconds", "How long the job that is due first has been due.",
             Kind::gauge);
  for (const Queue& queue : queues)
    out.sample(age(now, queue.waiting.due), {{"queue", queue.name}});
  out.gauge("coffer_oldest_unsettled_payment_age_seconds",
            "Age of the oldest payment that waits for settlement; 0: none waits.",
            age(now, backlog.settlement.created));
  out.gauge("coffer_oldest_provider_payment_age_seconds",
            "Age of the oldest payment that is under way at a provider; 0: none is.",
            age(now, backlog.providers.created));
}

void write_webhooks(Exposition& out, const store::Backlog& backlog) {
  out.gauge("coffer_webhook_endpoints", "Active endpoints.", number(backlog.endpoints));
  out.gauge("coffer_webhook_endpoints_failing", "Active endpoints whose last attempt failed.",
            number(backlog.endpoints_failing));
  out.gauge("coffer_webhook_events_behind",
            "Events that active endpoints have still to be given a delivery of.",
            number(backlog.events_behind));
  out.gauge("coffer_webhook_dead_letters",
            "Given up deliveries of active endpoints; 20000 stands for any more.",
            number(backlog.dead_letters));
}

void write_connectors(Exposition& out, const store::Backlog& backlog, const App& app) {
  using State = outbound::BreakerState::Kind;
  out.family("coffer_connector_info", "Each connector, with its name.", Kind::gauge);
  for (const store::ConnectorLabel& row : backlog.connectors) {
    out.sample(1, {{"connector", row.id},
                   {"name", row.name},
                   {"environment", row.production ? "production" : "sandbox"},
                   {"driver", row.calls_out ? "http" : "sandbox"}});
  }
  out.family("coffer_connector_paused", "Whether the operator has paused the connector.",
             Kind::gauge);
  for (const auto& row : backlog.connectors) out.sample(row.paused, {{"connector", row.id}});
  out.family("coffer_connector_breaker",
             "Circuit breaker of the connector: 1 at the state it is in.", Kind::gauge);
  for (const store::ConnectorLabel& row : backlog.connectors) {
    if (!row.calls_out) continue;
    const State present = app.connectors().breaker(row.key).kind;
    for (const State state : {State::closed, State::half_open, State::open}) {
      out.sample(state == present, {{"connector", row.id}, {"state", outbound::name(state)}});
    }
  }
}

void write_last_backup(Exposition& out, const std::optional<store::BackupRecord>& last) {
  out.gauge("coffer_backup_last_success_timestamp_seconds",
            "When the last backup was begun; 0: none is known.",
            last ? number(last->at.ms) / kMsPerSecond : 0);
  out.gauge("coffer_backup_last_size_bytes", "Size of the last backup.",
            last ? number(last->bytes) : 0);
}

/// The fullest of each kind: who it is of, `coffer association quotas` says.
void write_quotas(Exposition& out, const std::vector<flows::QuotaState>& states) {
  std::map<std::string_view, std::map<std::string_view, double>> fullest;
  std::int64_t nearly_used = 0;
  for (const Environment environment : {Environment::sandbox, Environment::production}) {
    for (const QuotaInfo& each : quota_table()) fullest[name(environment)][each.name] = 0;
  }
  for (const flows::QuotaState& state : states) {
    if (is_nearly_used(state.used, state.limit)) ++nearly_used;
    double& most = fullest[name(state.environment)][name(state.quota)];
    most = std::max(most, state.ratio());
  }
  out.family("coffer_quota_used_ratio",
             "Used part of each quota by the association that uses most of it; 0: unlimited.",
             Kind::gauge);
  for (const auto& [environment, quotas] : fullest) {
    for (const auto& [quota, ratio] : quotas) {
      out.sample(ratio, {{"environment", environment}, {"quota", quota}});
    }
  }
  out.gauge("coffer_quotas_nearly_used", "Quotas of associations that are used to more than 80 %.",
            number(nearly_used));
}

void write_backlog(Exposition& out, const std::optional<MetricsPage::Stored>& stored,
                   const App& app) {
  out.gauge("coffer_backlog_known",
            "Whether the queues could be read; where not, their metrics are missing.",
            stored.has_value());
  if (!stored) return;
  const store::Backlog& backlog = stored->backlog;
  write_queues(out, backlog, app.flows().queue.now());
  write_webhooks(out, backlog);
  write_connectors(out, backlog, app);
  write_last_backup(out, backlog.last_backup);
  out.counter("coffer_audit_records_total", "Rows of the audit log: acts, and what came of them.",
              number(backlog.audit_records));
  write_quotas(out, stored->quotas);
}

void write_log(Exposition& out) {
  out.family("coffer_log_lines_total", "Log lines written, by level.", Kind::counter);
  out.sample(number(log_lines(LogLevel::debug)), {{"level", "debug"}});
  out.sample(number(log_lines(LogLevel::info)), {{"level", "info"}});
  out.sample(number(log_lines(LogLevel::warning)), {{"level", "warning"}});
  out.sample(number(log_lines(LogLevel::error)), {{"level", "error"}});
}

/// Under the names that every exporter uses.
void write_process(Exposition& out) {
  const ProcessFigures figures = read_process_figures();
  const auto gauge = [&](std::string_view name, std::string_view help, const auto& value) {
    if (value) out.gauge(name, help, number(*value));
  };
  out.counter("process_cpu_seconds_total", "User and system time of the process.",
              figures.cpu_seconds);
  gauge("process_start_time_seconds", "When the process began.", figures.start_seconds);
  gauge("process_resident_memory_bytes", "Resident memory.", figures.resident_bytes);
  gauge("process_virtual_memory_bytes", "Virtual memory.", figures.virtual_bytes);
  gauge("process_threads", "Threads.", figures.threads);
  gauge("process_open_fds", "Open file descriptors.", figures.open_descriptors);
  gauge("process_max_fds", "File descriptors that may be open.", figures.max_descriptors);
}

}  // namespace

Result<http::Response> MetricsPage::handle(const http::Request& request) {
  COFFER_TRY_VOID(admit(request));
  if (request.method != "GET" && request.method != "HEAD") {
    return unexpected(Slug::method_not_allowed, "Use GET here.");
  }
  http::Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.header("Cache-Control", "no-store");
  response.body = render();
  return response;
}

Result<void> MetricsPage::admit(const http::Request& request) const {
  // Behind a proxy may be anybody.
  if (http::is_loopback(request.peer) && !http::is_forwarded(request)) return {};
  const Secret& token = app_.config().metrics_token;
  if (token.empty()) return unexpected(Slug::not_found, "There is nothing at this path.");
  if (has_token(request, token)) return {};
  return unexpected(Slug::unauthorized,
                    "Send Authorization: Bearer with the token of the settings.");
}

std::string MetricsPage::render() {
  Exposition out;
  write_build(out);
  write_health(out, app_.health());
  write_verification(out, app_);
  app_.metrics().write(out);
  write_schedule(out, app_.config());
  write_server(out, app_);
  write_lanes(out, app_);
  write_store(out, app_);
  write_backlog(out, stored(), app_);
  write_log(out);
  write_process(out);
  return out.text();
}

/// Read at most once a second, however many ask. A request that comes while another one reads takes
/// what was read before, so that requests in the lane `system` never wait for each other.
std::optional<MetricsPage::Stored> MetricsPage::stored() {
  const std::int64_t now = app_.flows().clock.monotonic_ms();
  {
    const Lock lock(mutex_);
    if (reading_ || (stored_ && now - read_ms_ < kKeptMs)) return stored_;
    reading_ = true;
  }
  std::optional<Stored> fresh;
  try {
    auto read = store::with_reader(app_.database(), [&](store::Connection& db) -> Result<Stored> {
      return Stored{store::read_backlog(db), flows::all_quotas(app_.flows(), db)};
    });
    if (read) fresh = *std::move(read);
  } catch (...) {
    const Lock lock(mutex_);
    reading_ = false;
    throw;
  }
  const Lock lock(mutex_);
  reading_ = false;
  read_ms_ = now;
  return stored_ = std::move(fresh);
}

}  // namespace coffer::cli
