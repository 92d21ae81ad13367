#include "cli/admin/metrics_page.h"

#include <algorithm>
#include <map>

#include "app/app.h"
#include "base/digest.h"
#include "base/telemetry/log_file.h"
#include "base/telemetry/process.h"
#include "embedded/embedded.h"
#include "flows/identity/quotas.h"
#include "http/client_address.h"
#include "store/operations/alerts.h"
#include "store/replication/leader.h"

namespace coffer::cli {
namespace {

using Kind = Exposition::Kind;

constexpr std::int64_t kKeptMs = 1'000;
constexpr double kMsPerSecond = 1e3;

/// Compares digests, so that the timing reveals neither the content nor the length of the token.
bool has_token(const http::Request& request, const Secret& token) {
  constexpr std::string_view kScheme = "Bearer ";
  const std::string* given = request.header("Authorization");
  if (given == nullptr || !given->starts_with(kScheme)) return false;
  const auto mine = sha256(token.reveal());
  const auto theirs = sha256(std::string_view(*given).substr(kScheme.size()));
  return equal_constant_time(as_text(mine), as_text(theirs));
}

double number(auto value) { return static_cast<double>(value); }

/// Seconds since `then`; 0 without a time or with a future time.
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
  out.gauge("coffer_ready", "1 if coffer can accept payments (/healthz), else 0.", health.ok());
  out.family("coffer_health_check", "Each check of /healthz: 1 passed, 0 failed.", Kind::gauge);
  for (const api::Health::Check& check : health.checks)
    out.sample(check.ok, {{"check", check.name}});
}

void write_verification(Exposition& out, const App& app) {
  out.gauge("coffer_invariants_hold",
            "1 if the last verification of the ledger found no violation, else 0.",
            app.background().invariants_hold());
  out.gauge("coffer_invariants_checked_timestamp_seconds",
            "Time of the last verification of the ledger; 0 if none has run since the start.",
            number(app.background().verified_at().ms) / kMsPerSecond);
}

void write_schedule(Exposition& out, const Config& config) {
  constexpr double kSecondsPerHour = 3'600;
  out.gauge("coffer_backup_interval_seconds",
            "Interval of scheduled backups; 0 if no backups are scheduled.",
            config.backup_dir.empty() ? 0 : config.backup_every_h * kSecondsPerHour);
}

void write_server(Exposition& out, const App& app) {
  const std::array<std::pair<std::string_view, std::optional<http::ServerStats>>, 2> listeners = {
      {{"api", app.listeners().api_stats()}, {"admin", app.listeners().admin_stats()}}};
  out.family("coffer_http_connections", "Open connections, by state.", Kind::gauge);
  for (const auto& [name, stats] : listeners) {
    if (!stats) continue;
    out.sample(number(stats->parked), {{"listener", name}, {"state", "parked"}});
    out.sample(number(stats->queued), {{"listener", name}, {"state", "queued"}});
    out.sample(number(stats->busy), {{"listener", name}, {"state", "busy"}});
  }
  const auto of_each = [&](std::string_view metric, std::string_view help, Kind kind, auto figure) {
    out.family(metric, help, kind);
    for (const auto& [name, stats] : listeners) {
      if (stats) out.sample(number((*stats).*figure), {{"listener", name}});
    }
  };
  using Stats = http::ServerStats;
  of_each("coffer_http_received_total", "Complete requests received.", Kind::counter,
          &Stats::requests);
  of_each("coffer_http_rejected_total",
          "Requests rejected before routing: malformed, too large, too slow, or no capacity.",
          Kind::counter, &Stats::rejected);
  of_each("coffer_http_evicted_total", "Connections closed to make room for new ones.",
          Kind::counter, &Stats::evicted);
  of_each("coffer_http_large_bodies_bytes", "Memory reserved for large request bodies.",
          Kind::gauge, &Stats::large_bodies_bytes);
}

void write_lanes(Exposition& out, const App& app) {
  const auto stats = app.listeners().api_stats();
  if (!stats) return;
  out.family("coffer_lane_requests", "Requests in a lane, running or waiting.", Kind::gauge);
  for (std::size_t i = 0; i < kLaneCount; ++i) {
    const std::string_view lane = name(static_cast<Lane>(i));
    out.sample(number(stats->lanes[i].running), {{"lane", lane}, {"state", "running"}});
    out.sample(number(stats->lanes[i].waiting), {{"lane", lane}, {"state", "waiting"}});
  }
  out.family("coffer_lane_rejected_total",
             "Requests rejected because the lane, or the caller's share of it, was full.",
             Kind::counter);
  for (std::size_t i = 0; i < kLaneCount; ++i) {
    out.sample(number(stats->lanes[i].rejected), {{"lane", name(static_cast<Lane>(i))}});
  }
}

void write_store(Exposition& out, App& app) {
  const store::CommitStats commits = app.queue().stats();
  out.gauge("coffer_commit_queue_commands", "Commands waiting for the writer.",
            number(commits.queued));
  out.gauge("coffer_storage_full", "1 if writes are rejected because the disk is full, else 0.",
            commits.storage_full);
  out.gauge("coffer_clock_behind_seconds",
            "Time that the system clock is behind the record timestamps; 0 unless it was set back.",
            number(commits.clock_behind_ms) / kMsPerSecond);
  const store::Database& database = app.database();
  out.gauge("coffer_database_size_bytes", "Size of the database file.",
            number(database.file_bytes()));
  out.gauge("coffer_wal_size_bytes", "Size of the write-ahead log.", number(database.wal_bytes()));
  out.gauge("coffer_disk_free_bytes", "Free space on the disk of the database.",
            number(database.free_bytes()));
  out.gauge("coffer_disk_floor_bytes", "Free space below which writes are rejected.",
            number(app.config().disk_floor_bytes()));
  if (const store::Leader* leader = database.leader()) {
    out.gauge("coffer_log_position", "Entries of the shared log.", number(leader->position().seq));
    out.gauge("coffer_log_epoch", "Epoch of this leader.", number(leader->position().epoch));
  }
  const std::vector<store::ReaderStats> readers = database.reader_stats();
  out.family("coffer_readers_leased", "Read connections in use.", Kind::gauge);
  for (const auto& pool : readers) out.sample(pool.leased, {{"pool", pool.pool}});
  out.family("coffer_readers_limit", "Maximum number of read connections.", Kind::gauge);
  for (const auto& pool : readers) out.sample(pool.size, {{"pool", pool.pool}});
  out.family("coffer_readers_rejected_total",
             "Reads rejected because no read connection became free.", Kind::counter);
  for (const auto& pool : readers) out.sample(number(pool.rejected), {{"pool", pool.pool}});
}

void write_queues(Exposition& out, const store::Backlog& backlog, Timestamp now) {
  const std::array<std::pair<std::string_view, const store::Waiting*>, 4> queues = {
      {{"settlement", &backlog.settlement},
       {"providers", &backlog.providers},
       {"webhooks", &backlog.deliveries},
       {"notifications", &backlog.notifications}}};
  out.family("coffer_queue_waiting", "Waiting jobs, by queue, counted up to 20000.", Kind::gauge);
  for (const auto& [name, jobs] : queues) out.sample(number(jobs->count), {{"queue", name}});
  out.family("coffer_queue_lateness_seconds", "Time since the oldest due job became due.",
             Kind::gauge);
  for (const auto& [name, jobs] : queues) out.sample(age(now, jobs->due), {{"queue", name}});
  out.gauge("coffer_oldest_unsettled_payment_age_seconds",
            "Age of the oldest payment waiting for settlement; 0 without one.",
            age(now, backlog.settlement.created));
  out.gauge("coffer_oldest_provider_payment_age_seconds",
            "Age of the oldest payment in progress at a provider; 0 without one.",
            age(now, backlog.providers.created));
}

void write_webhooks(Exposition& out, const store::Backlog& backlog) {
  out.gauge("coffer_webhook_endpoints", "Active endpoints.", number(backlog.endpoints));
  out.gauge("coffer_webhook_endpoints_failing", "Active endpoints whose last attempt failed.",
            number(backlog.endpoints_failing));
  out.gauge("coffer_webhook_events_behind", "Events not yet queued for active endpoints.",
            number(backlog.events_behind));
  out.gauge("coffer_webhook_dead_letters",
            "Failed deliveries of active endpoints, counted up to 20000.",
            number(backlog.dead_letters));
}

void write_connectors(Exposition& out, const store::Backlog& backlog, const App& app) {
  using State = outbound::BreakerState::Kind;
  out.family("coffer_connector_info", "Each connector, with its name.", Kind::gauge);
  for (const store::ConnectorLabel& row : backlog.connectors) {
    out.sample(1, {{"connector", row.id.to_string()},
                   {"name", row.name},
                   {"environment", name(row.environment)},
                   {"driver", name(row.driver)}});
  }
  out.family("coffer_connector_paused", "1 if the connector is paused, else 0.", Kind::gauge);
  for (const store::ConnectorLabel& row : backlog.connectors) {
    out.sample(row.is_paused(), {{"connector", row.id.to_string()}});
  }
  out.family("coffer_connector_breaker",
             "Circuit breaker of the connector: 1 for its current state.", Kind::gauge);
  for (const store::ConnectorLabel& row : backlog.connectors) {
    if (!calls_out(row.driver)) continue;
    const State present = app.connectors().breaker(row.key).kind;
    for (const State state : {State::closed, State::half_open, State::open}) {
      out.sample(state == present, {{"connector", row.id.to_string()}, {"state", name(state)}});
    }
  }
}

void write_last_backup(Exposition& out, const std::optional<store::BackupRecord>& last) {
  out.gauge("coffer_backup_last_success_timestamp_seconds",
            "Start of the last backup; 0 without one.",
            last ? number(last->at.ms) / kMsPerSecond : 0);
  out.gauge("coffer_backup_last_size_bytes", "Size of the last backup.",
            last ? number(last->bytes) : 0);
}

/// Ages count from the start of the server if nothing is known from before.
void write_archive(Exposition& out, const App& app, const ConditionFacts& facts) {
  const Archiving& archiving = app.background().archiving();
  if (!archiving.writes()) return;
  out.gauge("coffer_archive_behind_seconds", "Age of the newest entries missing in the archive.",
            age(app.flows().queue.now(), facts.archived_until));
  out.counter("coffer_archive_bytes_total",
              "Bytes of the log stored in the archive since the start.", number(archiving.bytes()));
  out.gauge("coffer_archive_proven_timestamp_seconds",
            "When a restore from the archive was last proven; 0 if it was not.",
            facts.proven_at ? number(facts.proven_at->ms) / kMsPerSecond : 0);
}

/// The highest usage of each quota; `coffer association quotas` shows the association.
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
             "Used fraction of each quota, for the association that uses the most; 0 if unlimited.",
             Kind::gauge);
  for (const auto& [environment, quotas] : fullest) {
    for (const auto& [quota, ratio] : quotas) {
      out.sample(ratio, {{"environment", environment}, {"quota", quota}});
    }
  }
  out.gauge("coffer_quotas_nearly_used", "Quotas that are more than 80 % used.",
            number(nearly_used));
}

void write_backlog(Exposition& out, const std::optional<MetricsPage::Stored>& stored,
                   const App& app) {
  out.gauge("coffer_backlog_known",
            "1 if the queues could be read; if 0, their metrics are missing.", stored.has_value());
  if (!stored) return;
  const store::Backlog& backlog = stored->backlog;
  write_queues(out, backlog, app.flows().queue.now());
  write_webhooks(out, backlog);
  write_connectors(out, backlog, app);
  write_last_backup(out, backlog.last_backup);
  write_archive(out, app, stored->archive);
  out.gauge("coffer_alerts_open", "Alerts that are open.", number(stored->alerts_open));
  out.counter("coffer_audit_records_total", "Audit entries: commands and their results.",
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

/// Uses the standard names of process metrics.
void write_process(Exposition& out) {
  const ProcessFigures figures = read_process_figures();
  const auto gauge = [&](std::string_view name, std::string_view help, const auto& value) {
    if (value) out.gauge(name, help, number(*value));
  };
  out.counter("process_cpu_seconds_total", "User and system time of the process.",
              figures.cpu_seconds);
  gauge("process_start_time_seconds", "Start time of the process.", figures.start_seconds);
  gauge("process_resident_memory_bytes", "Resident memory.", figures.resident_bytes);
  gauge("process_virtual_memory_bytes", "Virtual memory.", figures.virtual_bytes);
  gauge("process_threads", "Threads.", figures.threads);
  gauge("process_open_fds", "Open file descriptors.", figures.open_descriptors);
  gauge("process_max_fds", "Maximum number of open file descriptors.", figures.max_descriptors);
}

}  // namespace

Result<http::Response> MetricsPage::handle(const http::Request& request) {
  COFFER_TRY_VOID(admit(request));
  http::Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.header("Cache-Control", "no-store");
  response.body = render();
  return response;
}

Result<void> MetricsPage::admit(const http::Request& request) const {
  // A proxy may forward requests of any client.
  if (http::is_loopback(request.peer) && !http::is_forwarded(request)) return {};
  const Secret& token = app_.config().metrics_token;
  if (token.empty()) return unexpected(Slug::not_found, "This path does not exist.");
  if (has_token(request, token)) return {};
  return unexpected(
      Slug::unauthorized,
      "A token is required. Send the configured metrics_token as Authorization: Bearer.");
}

std::string MetricsPage::render() {
  Exposition out;
  write_build(out);
  write_health(out, app_.background().health());
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

/// Read at most once per second. A request that arrives during a read gets the previous figures, so
/// requests in the lane `system` never wait for each other.
std::optional<MetricsPage::Stored> MetricsPage::stored() {
  const std::int64_t now = app_.flows().clock.monotonic_ms();
  {
    const Lock lock(mutex_);
    if (reading_ || (stored_ && now - read_ms_ < kKeptMs)) return stored_;
    reading_ = true;
  }
  std::optional<Stored> fresh;
  try {
    auto read = app_.flows().read([&](store::Connection& db) {
      Stored out{store::read_backlog(db), flows::all_quotas(app_.flows(), db),
                 store::count_open_alerts(db)};
      const Archiving& archiving = app_.background().archiving();
      if (archiving.writes()) archiving.add_facts(db, out.archive);
      return out;
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
