#include "api/about/openapi.h"
#include "app/app.h"
#include "app/service/activation.h"
#include "base/platform/exit_code.h"
#include "base/platform/process.h"
#include "base/platform/processors.h"
#include "base/telemetry/log.h"
#include "base/thread.h"
#include "flows/operations/backup_plan.h"
#include "flows/operations/live_verification.h"
#include "flows/settlement/settle_payment.h"
#include "http/problem_json.h"
#include "http/tls.h"
#include "http/wire/listener.h"

namespace coffer {
namespace {

constexpr int kSettleBatch = 256;
constexpr std::int64_t kHousekeepingMs = 200;
constexpr std::int64_t kStoreUsesEveryMs = kMinuteMs;
constexpr std::int64_t kVerifyEveryMs = kHourMs;
constexpr std::int64_t kVerifyAgainMs =
    1'000;  // if no reader was free, or the slice was interrupted

/// Whether the admin page is served on the listener of the API.
bool shares_listener(const Config& config) {
  return !config.admin_off && config.admin_listen == config.listen_http;
}

flows::BackupPlan backup_plan(const Config& config) {
  return {.folder = config.backup_dir,
          .every_ms = config.backup_every_h * kHourMs,
          .keep = config.backup_keep,
          .floor_bytes = static_cast<std::uint64_t>(config.disk_floor_mib) << 20};
}

/// A certificate error is a complete message. To an address error, cli/serving adds the source of
/// the value. An address in use may be free after a restart.
StartError cannot_listen(const Problem& problem, const std::string& setting,
                         const std::string& what) {
  if (problem.slug == Slug::validation_failed) return {exit_code::kConfiguration, what};
  return {problem.slug == Slug::conflict ? exit_code::kBusy : exit_code::kFailed, what, setting};
}

StartError cannot_listen_admin(const Problem& problem) {
  return cannot_listen(problem, "admin_listen", "the admin page cannot listen: " + problem.detail);
}

/// The admin page is optional: if its default address is in use, the server starts without it.
bool requires_admin(const Config& config) {
  const auto origin = config.origins.find("admin_listen");
  return origin != config.origins.end() && origin->second != "default";
}

api::RequestLogOptions request_log_options(const Config& config) {
  return {.limits = {.age_max_ms = config.request_log_days * kDayMs,
                     .bytes_max = static_cast<std::uint64_t>(config.request_log_mib) << 20},
          .sandbox_bodies = config.request_log >= RequestLogging::sandbox,
          .production_bodies = config.request_log == RequestLogging::bodies};
}

}  // namespace

bool App::start_listeners(StartError& error, const AdminPages& admin) {
  http::ServerOptions options;
  options.host = config_.listen_http.host;
  options.port = config_.listen_http.port;
  options.listen_fd = kept_socket(config_.listen_http);
  options.lanes = lane_table(config_.workers, processors());
  options.workers = static_cast<std::size_t>(total_width(options.lanes));
  options.tls_cert_file = config_.tls_cert;
  options.tls_key_file = config_.tls_key;
  options.tls_client_ca_file = config_.tls_client_ca;
  options.limits.connections_max = static_cast<std::size_t>(config_.max_connections);
  options.limits.connections_per_network_max = (options.limits.connections_max + 1) / 2;
  options.limits.idle_ms = config_.idle_timeout_s * 1'000;
  options.render_problem = [this](const Problem& problem, const http::Request& request) {
    return pipeline_->render(problem, request);
  };
  const bool shared = admin.handle && shares_listener(config_);
  services_->has_admin_page = shared;
  const auto is_admin = [shared, owns = admin.owns](const http::Request& request) {
    return shared && owns(request.path);
  };
  options.admit = [this, is_admin, admin](const http::Request& head, std::uint64_t body_bytes) {
    return is_admin(head) ? admin.admit(head, body_bytes) : admit(head, body_bytes);
  };
  const bool tls = !config_.tls_cert.empty();
  server_ = std::make_unique<http::Server>(
      options, random_, [this, is_admin, admin, tls](http::Request& request) {
        http::Response response =
            is_admin(request) ? admin.handle(request) : pipeline_->handle(request);
        return with_strict_transport(request, std::move(response), tls);
      });
  if (const auto started = server_->start(); !started) {
    error = cannot_listen(started.error(), "listen_http", started.error().detail);
    return false;
  }
  keep_socket(server_->listen_fd());
  return !admin.handle || shared || config_.admin_off || start_admin(error, admin);
}

/// RFC 6797: a client that has used TLS uses only TLS from then on. The header is set only on TLS
/// connections, which coffer or a trusted proxy terminates.
http::Response App::with_strict_transport(const http::Request& request, http::Response response,
                                          bool tls) const {
  if (tls || proxies_.has_tls(request)) {
    response.header("Strict-Transport-Security", "max-age=31536000");
  }
  return response;
}

bool App::start_admin(StartError& error, const AdminPages& admin) {
  constexpr std::size_t kConnections = 256;
  http::ServerOptions options;
  options.host = config_.admin_listen.host;
  options.port = config_.admin_listen.port;
  // Creates every lane, because the page selects the lane of a request, and large bodies use
  // `bulk`.
  options.lanes = lane_table(1, processors());
  options.workers = static_cast<std::size_t>(total_width(options.lanes));
  options.admit = admin.admit;
  options.limits.connections_max = kConnections;
  options.limits.idle_ms = config_.idle_timeout_s * 1'000;
  options.render_problem = [this](const Problem& problem, const http::Request& request) {
    return http::problem_response(problem, request.path, request.request_id,
                                  flows::public_base_url(*context_));
  };
  if (!config_.admin_listen.is_loopback()) {
    options.tls_cert_file = config_.tls_cert;
    options.tls_key_file = config_.tls_key;
  }
  admin_server_ = std::make_unique<http::Server>(
      options, random_,
      [this, admin, tls = !options.tls_cert_file.empty()](http::Request& request) {
        return with_strict_transport(request, admin.handle(request), tls);
      });
  const auto started = admin_server_->start();
  if (started) return true;
  admin_server_.reset();
  if (requires_admin(config_)) {
    error = cannot_listen_admin(started.error());
    return false;
  }
  log_warning("admin", "the admin page cannot listen: " + started.error().detail,
              {{"remedy", "set admin_listen to a free address"}});
  return true;
}

bool App::can_serve(const Config& config, StartError& error) {
  http::TlsIdentity identity;
  http::Listener api;
  http::Listener admin;
  Result<void> usable;
  if (!config.tls_cert.empty()) {
    usable = identity.load(config.tls_cert, config.tls_key, config.tls_client_ca);
  }
  if (usable && kept_socket(config.listen_http) < 0) {
    usable = api.bind(config.listen_http.host, config.listen_http.port);
  }
  if (!usable) {
    error = cannot_listen(usable.error(), "listen_http", usable.error().detail);
    return false;
  }
  if (config.admin_off || shares_listener(config) || !requires_admin(config)) return true;
  usable = admin.bind(config.admin_listen.host, config.admin_listen.port);
  if (!usable) error = cannot_listen_admin(usable.error());
  return usable.has_value();
}

bool App::serve(StartError& error, const AdminPages& admin) {
  starting_ = true;
  make_workers();
  if (!start_listeners(error, admin)) return false;
  if (request_log_) request_log_->start();
  settlement_->start();
  providers_->start();
  deliveries_->start();
  messages_->start();
  housekeeping_->start();
  prober_->start();
  head_signer_->start();
  verifier_->start();
  if (backups_) backups_->start();
  starting_ = false;
  return true;
}

/// Called before the first request, because other threads read these members afterwards.
void App::make_workers() {
  if (config_.request_log != RequestLogging::off) {
    // Payments may use twice the reserved space before the log stops growing.
    const auto floor = (static_cast<std::uint64_t>(config_.disk_floor_mib) << 20) * 2;
    request_log_ = std::make_unique<api::RequestLog>(
        store::request_log_path(config_.db), request_log_options(config_), clock_, metrics_,
        [this, floor] { return database_->free_bytes() >= floor; }, api::document_redactor);
    services_->request_log = request_log_.get();
  }
  settlement_ = std::make_unique<WorkerThread>("settlement", [this] { return settlement_step(); });
  housekeeping_ =
      std::make_unique<WorkerThread>("housekeeping", [this] { return housekeeping_step(); });
  prober_ = std::make_unique<WorkerThread>("prober", [this] { return probe_step(); });
  verifier_ = std::make_unique<WorkerThread>("verifier", [this] { return verify_step(); });
  checkpoints_ = std::make_unique<flows::CheckpointRounds>(
      *context_, outbound::Witnesses(config_.checkpoint_witnesses, *client_, *resolver_));
  head_signer_ =
      std::make_unique<WorkerThread>("checkpoints", [this] { return checkpoint_step(); });
  if (!config_.backup_dir.empty()) {
    backups_ = std::make_unique<WorkerThread>("backups", [this, plan = backup_plan(config_)] {
      return flows::run_backup_plan(*context_, plan, [this] { return draining_.load(); });
    });
  }
}

int App::port() const { return server_ ? server_->port() : 0; }

std::optional<ListenAddress> App::api_address() const {
  if (!server_) return std::nullopt;
  return ListenAddress{{config_.listen_http.host, server_->port()}, !config_.tls_cert.empty()};
}

std::optional<ListenAddress> App::admin_address() const {
  if (shares_listener(config_)) return api_address();
  if (!admin_server_) return std::nullopt;
  return ListenAddress{{config_.admin_listen.host, admin_server_->port()}, admin_has_tls()};
}

bool App::admin_has_tls() const {
  return !config_.tls_cert.empty() &&
         (shares_listener(config_) || !config_.admin_listen.is_loopback());
}

std::string App::admin_origin() const {
  const bool shared = shares_listener(config_);
  const bool tls = admin_has_tls();
  const int port = shared ? this->port() : admin_server_ ? admin_server_->port() : 0;
  return (tls ? "https://" : "http://") + connectable(config_.admin_listen, port).to_string();
}

Result<void> App::reload_tls() {
  for (const auto* server : {&server_, &admin_server_}) {
    if (*server) COFFER_TRY_VOID((*server)->reload_tls());
  }
  return {};
}

void App::offer_trial() { services_->offers_trial = true; }

void App::stop(const std::function<void()>& stop_commands) {
  if (stopped_) return;
  stopped_ = true;
  draining_ = true;
  const int drain_ms = config_.drain_s * 1000;
  if (queue_) queue_->end_waits_after(drain_ms);
  // Requests, commands and workers may wait for other machines, each longer than the server may
  // take.
  if (resolver_) resolver_->cut_after(drain_ms);
  if (client_) client_->cut_after(drain_ms);
  if (webhooks_) webhooks_->sender.cut_after(drain_ms);
  if (messenger_) messenger_->cut_after(drain_ms);
  {
    // All at a time, because a command may take as long as a request.
    const Thread commands("command-stop", [&] { stop_commands(); });
    const Thread page("admin-stop", [this] {
      if (admin_server_) admin_server_->stop(0);
    });
    if (server_) server_->stop(drain_ms);
  }
  if (housekeeping_) {
    housekeeping_->stop();
    store_secret_uses();
  }
  if (backups_) backups_->stop();
  if (head_signer_) head_signer_->stop();
  if (verifier_) verifier_->stop();
  if (prober_) prober_->stop();
  if (settlement_) settlement_->stop();
  if (providers_) providers_->stop();
  if (deliveries_) deliveries_->stop();
  if (messenger_) messenger_->cut_after(0);
  if (messages_) messages_->stop();
  if (request_log_) request_log_->stop();
  if (queue_) queue_->stop();
}

int App::settle_once() {
  const auto round = flows::settle_due_payments(*context_, kSettleBatch);
  return (round ? round->settled : 0) + providers_->run_due();
}

int App::deliver_once() { return deliveries_->run_due(); }

int App::send_messages_once() { return messages_->run_due(); }

std::int64_t App::settlement_step() {
  // Keeps its value if a round ends with an exception or hangs, so that /healthz reports it.
  if (settling_since_ms_ == 0) settling_since_ms_ = clock_.monotonic_ms();
  const auto round = flows::settle_due_payments(*context_, kSettleBatch);
  settling_since_ms_ = 0;
  if (!round) return 1'000;  // overloaded or disk full: the jobs wait in their rows
  if (round->settled == kSettleBatch) return 0;
  if (!round->next_due) return WorkerThread::kWhenWoken;
  return std::max<std::int64_t>(0, round->next_due->ms - queue_->now().ms);
}

std::int64_t App::housekeeping_step() {
  database_->interrupt_stale_readers();
  if (database_->close_idle_readers() > 0) return_free_memory();
  database_->watch_place();
  queue_->watch_clock();
  // A refusal to act on a row shows that the file was changed, so verification looks for more.
  if (const auto seen = store::foreign_changes(); seen != foreign_changes_) {
    foreign_changes_ = seen;
    if (invariants_hold_) queue_->set_balances(store::BalanceState::unverified);
    if (verifier_) verifier_->wake();
  }
  if (clock_.monotonic_ms() - uses_stored_ms_ >= kStoreUsesEveryMs) store_secret_uses();
  return kHousekeepingMs;
}

void App::store_secret_uses() {
  uses_stored_ms_ = clock_.monotonic_ms();
  const auto uses = services_->authenticator.take_uses();
  if (uses.empty()) return;
  const auto stored = queue_->run([&](store::WriteTx& tx) -> Result<void> {
    for (const store::SecretUse& use : uses) store::put_secret_use(tx, use);
    return {};
  });
  if (!stored) {
    log_warning("identity", "the last uses of API keys could not be stored",
                {{"problem", stored.error().detail}});
  }
}

std::int64_t App::probe_step() {
  if (const auto proof = queue_->probe(); !proof) {
    log_warning("store", "test write rejected", {{"problem", proof.error().detail}});
  }
  return WorkerThread::kWhenWoken;
}

/// Verifies a slice. A round of slices runs at start and hourly.
std::int64_t App::verify_step() {
  if (draining_) return WorkerThread::kWhenWoken;
  const auto slice = flows::verify_slice(*context_, verification_);
  if (!slice) {
    // Any other problem means that the keys of the file can no longer be opened.
    if (slice.error().slug == Slug::overloaded) return kVerifyAgainMs;
    invariants_hold_ = false;
    judge_balances();
    log_error("store", "verification failed", {{"problem", slice.error().detail}});
    return kVerifyEveryMs;
  }
  const std::vector<store::Violation>& violations = verification_.violations();
  if (!violations.empty()) invariants_hold_ = false;
  if (!slice->round_over) {
    if (!violations.empty()) judge_balances();
    return slice->rest_ms;
  }
  for (const store::Violation& violation : violations) {
    log_error("store", "invariant violated",
              {{"invariant", violation.invariant}, {"detail", violation.detail}});
  }
  invariants_hold_ = violations.empty();
  verified_at_ms_ = clock_.now().ms;
  judge_balances();
  return_free_memory();
  return kVerifyEveryMs;
}

void App::note_verification(bool holds) {
  operator_found_faults_ = !holds;
  judge_balances();
}

/// If a verification has found faults, the writer compares each balance before it uses it.
void App::judge_balances() {
  using store::BalanceState;
  const bool damaged = !invariants_hold_ || operator_found_faults_;
  const auto found = verified_at_ms_ == 0 ? BalanceState::unverified : BalanceState::sound;
  queue_->set_balances(damaged ? BalanceState::damaged : found);
}

/// Makes checkpoints only after a successful verification since the start.
std::int64_t App::checkpoint_step() {
  if (!draining_ && invariants_hold_ && verified_at_ms_ != 0) {
    checkpoints_->run([this] { return draining_.load(); });
  }
  return flows::CheckpointRounds::kRestMs;
}

}  // namespace coffer
