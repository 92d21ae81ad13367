#include "app.h"

#include "api/pipeline/pipeline.h"
#include "auth/master_key.h"
#include "base/log.h"
#include "flows/operators/figures.h"
#include "flows/safety/backup_plan.h"
#include "flows/settle_payment.h"
#include "store/catalog.h"
#include "store/invariants.h"
#include "store/schema.h"

namespace coffer {
namespace {

constexpr std::string_view kCursorLabel = "coffer cursor v1";
constexpr int kSettleBatch = 256;
// After a round, what comes in meanwhile is settled together: a commit for each payment would keep the
// next client waiting for it.
constexpr std::int64_t kSettleGatherMs = 3;
constexpr std::int64_t kHousekeepingMs = 200;
constexpr std::int64_t kVerifyEveryMs = 3'600'000;

/// Exit codes of decisions section 11.
int exit_code(store::OpenFault fault) {
  switch (fault) {
    case store::OpenFault::none:
      return 0;
    case store::OpenFault::cannot_create:
      return 73;
    case store::OpenFault::permission:
      return 77;
    case store::OpenFault::locked:
      return 75;
    case store::OpenFault::corrupt:
      return 74;
    case store::OpenFault::newer_schema:
    case store::OpenFault::unsupported:
      return 78;
  }
  throw InternalError("unknown open fault");
}

int exit_code(const Problem& key_problem) {
  if (key_problem.slug == Slug::forbidden) return 77;
  return key_problem.slug == Slug::unexpected_error ? 73 : 78;
}

api::RateLimits rate_limits(const Config& config) {
  return {{config.rate_limit_production_per_s, config.rate_limit_production_burst},
          {config.rate_limit_sandbox_per_s, config.rate_limit_sandbox_burst},
          config.rate_limit_login_per_min};
}

/// With the bundle that was found; empty when there is none: then nothing is called over TLS, and the
/// call says so.
Config with_ca_bundle(Config config) {
  auto found = http::find_ca_bundle(config.ca_bundle,
                                    environment_variable("SSL_CERT_FILE").value_or(""));
  if (!found) {
    log_warning("outbound", "no certificates to trust", {{"problem", found.error().detail}});
  }
  config.ca_bundle = found ? *std::move(found) : std::string();
  return config;
}

/// `host:port` that a client on this machine would use.
std::string own_address(HostPort listener, int port) {
  if (listener.host == "0.0.0.0") listener.host = "127.0.0.1";
  if (listener.host == "::") listener.host = "::1";
  if (port != 0) listener.port = port;  // the one that was picked for 0
  return listener.to_string();
}

/// Whether the admin page is served on the listener of the API.
bool shares_listener(const Config& config) {
  return !config.admin_off && config.admin_listen == config.listen_http;
}

bool is_loopback(const HostPort& address) {
  return address.host.starts_with("127.") || address.host == "::1" || address.host == "localhost";
}

std::vector<std::int64_t> delays_ms(const std::vector<std::string>& seconds) {
  std::vector<std::int64_t> out;
  for (const std::string& text : seconds) out.push_back(std::stoll(text) * 1'000);
  return out;
}

DeliveryPolicy delivery_policy(const Config& config) {
  DeliveryPolicy policy;
  policy.attempts = config.webhook_attempts;
  policy.production_delays_ms = delays_ms(config.webhook_retry_s);
  policy.sandbox_delays_ms = delays_ms(config.webhook_sandbox_retry_s);
  policy.retry_after_max_ms = config.webhook_retry_after_max_s * std::int64_t{1000};
  policy.grace_s = config.webhook_grace_s;
  policy.body_bytes_max = static_cast<std::size_t>(config.webhook_body_max_kib) * 1024;
  policy.body_days = config.webhook_body_days;
  policy.log_days = config.webhook_log_days;
  return policy;
}

flows::BackupPlan backup_plan(const Config& config) {
  return {.folder = config.backup_dir,
          .every_ms = config.backup_every_h * std::int64_t{3'600'000},
          .keep = config.backup_keep,
          .floor_bytes = static_cast<std::uint64_t>(config.disk_floor_mib) << 20};
}

Result<std::optional<std::string>> stored_key_check(store::Database& database) {
  return store::with_reader(database,
                            [](store::Connection& db) -> Result<std::optional<std::string>> {
                              return store::read_meta(db, store::kKeyCheck);
                            });
}

/// The key of this file. A new file gets a new key when there is none; for a file that has sealed
/// secrets a missing key is never replaced, and a key that does not fit is refused.
Result<auth::MasterKey> open_master_key(const Config& config, Random& random,
                                        store::Database& database, store::CommitQueue& queue) {
  COFFER_TRY(const auto stored, stored_key_check(database));
  auto key = config.master_key.empty()
                 ? auth::load_or_create_master_key(
                       config.master_key_file, random,
                       stored ? auth::MissingKey::refuse : auth::MissingKey::create)
                 : auth::parse_master_key(config.master_key.reveal(), "COFFER_MASTER_KEY");
  if (!key) return key;
  if (!stored) {
    COFFER_TRY_VOID(queue.run([&](store::WriteTx& tx) -> Result<void> {
      store::write_meta(tx, store::kKeyCheck, key->fingerprint());
      return {};
    }));
  } else if (*stored != key->fingerprint()) {
    return unexpected(Slug::validation_failed,
                      "the master key is not the one " + config.db +
                          " was made with; give the right one (COFFER_MASTER_KEY_FILE)");
  }
  return key;
}

}  // namespace

App::App(const Config& config, const Clock& clock, Random& random)
    : config_(with_ca_bundle(config)), clock_(clock), random_(random) {}

App::~App() { stop(); }

std::unique_ptr<App> App::open(const Config& config, const Clock& clock, Random& random,
                               StartError& error) {
  std::unique_ptr<App> app(new App(config, clock, random));
  try {
    if (!app->build(error)) return nullptr;
  } catch (const store::SqlError& fault) {
    error = {74, config.db + " cannot be read (" + fault.what() +
                     "). Keep a copy and restore a backup; never edit it."};
    return nullptr;
  }
  return app;
}

bool App::build(StartError& error) {
  store::OpenError fault;
  database_ = store::Database::open(
      {config_.db, config_.readers, config_.allow_network_filesystem}, clock_, fault);
  if (!database_) {
    error = {exit_code(fault.fault), fault.message};
    return false;
  }
  store::CommitQueueOptions options;
  options.queue_max = static_cast<std::size_t>(config_.queue_max);
  options.disk_floor_bytes = static_cast<std::uint64_t>(config_.disk_floor_mib) << 20;
  options.metrics = &metrics_;
  queue_ = std::make_unique<store::CommitQueue>(
      *database_, clock_, options, [this](store::Signal signal) {
        wake_worker(signal);
      });
  const auto key = open_master_key(config_, random_, *database_, *queue_);
  if (!key) {
    error = {exit_code(key.error()), key.error().detail};
    return false;
  }
  build_services(*key);
  for (const auto part : {&App::build_logins, &App::build_webhooks}) {
    if (const auto built = (this->*part)(); !built) {
      error = {exit_code(built.error()), built.error().detail};
      return false;
    }
  }
  return true;
}

void App::build_services(const auth::MasterKey& key) {
  sealer_ = std::make_unique<auth::Sealer>(key, random_);
  tokens_ = std::make_unique<auth::TokenIssuer>(key.derive(auth::kTokenLabel));
  client_ = std::make_unique<http::Client>(config_.ca_bundle);
  resolver_ = std::make_unique<outbound::CaresResolver>();
  connectors_ = std::make_unique<outbound::ConnectorRegistry>(clock_, *resolver_, *client_, random_,
                                                              &metrics_);
  context_ = std::make_unique<flows::Context>(flows::Context{
      *database_, *queue_, clock_, random_, *sealer_, *tokens_, *connectors_, config_.network_name,
      config_.settle_delay_ms, config_.token_lifetime_s * std::int64_t{1000}});
  notifier_ = std::make_unique<outbound::ConfiguredNotifier>(
      outbound::NotifierSettings{.sendmail = config_.notify_sendmail,
                                 .from = config_.notify_from,
                                 .gateway_url = config_.notify_gateway_url,
                                 .gateway_token = config_.notify_gateway_token},
      *client_, *resolver_);
  context_->notifier = notifier_.get();
  figures_ = std::make_unique<flows::Figures>(metrics_);
  context_->metrics = &metrics_;
  context_->figures = figures_.get();
  // Built in place: its parts hold locks and cannot move.
  services_.reset(new api::Services{
      *context_, api::Authenticator(*context_), api::RateLimiter(rate_limits(config_), clock_),
      api::CursorCodec(key.derive(kCursorLabel)), [this] { return health(); }});
  pipeline_ = std::make_unique<api::Pipeline>(*services_);
  providers_ = std::make_unique<workers::ProviderLanes>(*context_);
  notifications_ = std::make_unique<workers::Notifications>(*context_);
}

/// After the context, because the key that challenges are signed with is stored with its help.
Result<void> App::build_logins() {
  COFFER_TRY(auto key, flows::open_challenge_key(*context_));
  const std::string passphrase = config_.network_passphrase.empty()
                                     ? config_.network_name + " ; embedded ledger"
                                     : config_.network_passphrase;
  std::unique_ptr<flows::ExternalTokens> external;
  if (!config_.oauth_issuer.empty()) {
    external = std::make_unique<flows::ExternalTokens>(
        auth::ExternalIssuer{config_.oauth_issuer, config_.oauth_audience},
        std::make_unique<outbound::KeySet>(config_.oauth_jwks, config_.oauth_timeout_ms, clock_,
                                           *client_, *resolver_),
        clock_);
  }
  logins_ = std::make_unique<flows::Logins>(flows::Logins{
      auth::ChallengeServer(std::move(key), passphrase), config_.home_domain,
      config_.web_auth_domain, !config_.tls_cert.empty(),
      [this] { return own_address(config_.listen_http, port()); }, std::move(external)});
  context_->logins = logins_.get();
  return {};
}

Result<void> App::build_webhooks() {
  COFFER_TRY(auto allowed, outbound::AllowedTargets::parse(config_.webhook_allow_targets));
  webhooks_.reset(new flows::Webhooks{
      outbound::WebhookSender(clock_, *resolver_, std::move(allowed), config_.ca_bundle,
                              config_.webhook_timeout_ms),
      delivery_policy(config_)});
  context_->webhooks = webhooks_.get();
  deliveries_ = std::make_unique<workers::WebhookDelivery>(*context_, config_.webhook_senders,
                                                           config_.webhook_in_flight);
  return {};
}

void App::wake_worker(store::Signal signal) {
  switch (signal) {
    case store::Signal::settlement:
      if (settlement_) settlement_->wake();
      break;
    case store::Signal::providers:
      if (providers_) providers_->wake();
      break;
    case store::Signal::webhooks:
      if (deliveries_) deliveries_->wake();
      break;
    case store::Signal::notifications:
      if (notifications_) notifications_->wake();
      break;
  }
}

http::Response App::handle(http::Request& request) { return pipeline_->handle(request); }

bool App::start_listeners(StartError& error, const http::Handler& admin,
                          bool (*owns_path)(std::string_view)) {
  http::ServerOptions options;
  options.host = config_.listen_http.host;
  options.port = config_.listen_http.port;
  options.workers = static_cast<std::size_t>(config_.workers);
  options.tls_cert_file = config_.tls_cert;
  options.tls_key_file = config_.tls_key;
  options.limits.connections_max = static_cast<std::size_t>(config_.max_connections);
  options.limits.body_bytes_for = api::Pipeline::body_bytes_max;
  options.render_problem = api::Pipeline::render;
  const bool shared = admin && shares_listener(config_);
  server_ = std::make_unique<http::Server>(
      options, random_, [this, shared, admin, owns_path](http::Request& request) {
        return shared && owns_path(request.path) ? admin(request) : pipeline_->handle(request);
      });
  if (const auto started = server_->start(); !started) {
    error = {started.error().slug == Slug::validation_failed ? 78 : 1, started.error().detail};
    return false;
  }
  return !admin || shared || config_.admin_off || start_admin(error, admin);
}

/// Few threads: a page for a few people. That a default address is taken must not keep payments from
/// being served.
bool App::start_admin(StartError& error, const http::Handler& admin) {
  constexpr std::size_t kWorkers = 8;
  constexpr std::size_t kConnections = 256;
  http::ServerOptions options;
  options.host = config_.admin_listen.host;
  options.port = config_.admin_listen.port;
  options.workers = kWorkers;
  options.limits.connections_max = kConnections;
  if (!is_loopback(config_.admin_listen)) {
    options.tls_cert_file = config_.tls_cert;
    options.tls_key_file = config_.tls_key;
  }
  admin_server_ = std::make_unique<http::Server>(options, random_, admin);
  const auto started = admin_server_->start();
  if (started) return true;
  admin_server_.reset();
  const std::string what = "the admin page cannot listen: " + started.error().detail;
  if (config_.origins.at("admin_listen") == "default") {
    log_warning("admin", what, {{"remedy", "set admin_listen to a free address"}});
    return true;
  }
  error = {started.error().slug == Slug::validation_failed ? 78 : 1, what};
  return false;
}

bool App::serve(StartError& error, const http::Handler& admin,
                bool (*owns_path)(std::string_view)) {
  starting_ = true;
  make_workers();
  if (!start_listeners(error, admin, owns_path)) return false;
  settlement_->start();
  providers_->start();
  deliveries_->start();
  notifications_->start();
  housekeeping_->start();
  prober_->start();
  verifier_->start();
  if (backups_) backups_->start();
  starting_ = false;
  return true;
}

/// Before anybody is served: from then on other threads look at them.
void App::make_workers() {
  settlement_ = std::make_unique<WorkerThread>("settlement", [this] { return settlement_step(); });
  housekeeping_ =
      std::make_unique<WorkerThread>("housekeeping", [this] { return housekeeping_step(); });
  prober_ = std::make_unique<WorkerThread>("prober", [this] { return probe_step(); });
  verifier_ = std::make_unique<WorkerThread>("verifier", [this] { return verify_step(); });
  if (!config_.backup_dir.empty()) {
    backups_ = std::make_unique<WorkerThread>("backups", [this, plan = backup_plan(config_)] {
      return flows::run_backup_plan(*context_, plan, [this] { return draining_.load(); });
    });
  }
}

int App::port() const { return server_ ? server_->port() : 0; }

std::string App::admin_origin() const {
  const bool shared = shares_listener(config_);
  const bool tls = !config_.tls_cert.empty() && (shared || !is_loopback(config_.admin_listen));
  const int port = shared ? this->port() : admin_server_ ? admin_server_->port() : 0;
  return (tls ? "https://" : "http://") + own_address(config_.admin_listen, port);
}

Result<void> App::reload_tls() {
  for (const auto* server : {&server_, &admin_server_}) {
    if (*server) COFFER_TRY_VOID((*server)->reload_tls());
  }
  return {};
}

void App::stop() {
  if (stopped_) return;
  stopped_ = true;
  draining_ = true;
  if (admin_server_) admin_server_->stop(0);
  if (server_) server_->stop(config_.drain_s * 1000);
  if (housekeeping_) housekeeping_->stop();
  interrupt_verification();
  if (backups_) backups_->stop();
  if (verifier_) verifier_->stop();
  if (prober_) prober_->stop();
  if (settlement_) settlement_->stop();
  if (providers_) providers_->stop();
  if (deliveries_) deliveries_->stop();
  if (notifications_) notifications_->stop();
  if (queue_) queue_->stop();
}

int App::settle_once() {
  const auto round = flows::settle_due_payments(*context_, kSettleBatch);
  return (round ? round->settled : 0) + providers_->run_due();
}

int App::deliver_once() { return deliveries_->run_due(); }

int App::notify_once() { return notifications_->run_due(); }

std::int64_t App::settlement_step() {
  // The machine's own: how soon after each other is no matter of the records.
  const std::int64_t early_ms = settled_ms_ + kSettleGatherMs - SystemClock().monotonic_ms();
  if (early_ms > 0) return early_ms;
  // Stays as it is while rounds break off with an exception, or hang.
  if (settling_since_ms_ == 0) settling_since_ms_ = clock_.monotonic_ms();
  const auto round = flows::settle_due_payments(*context_, kSettleBatch);
  settling_since_ms_ = 0;
  if (!round) return 1'000;  // overloaded or disk full: the jobs wait in their rows
  if (round->settled == kSettleBatch) return 0;
  if (round->settled > 0) settled_ms_ = SystemClock().monotonic_ms();
  if (!round->next_due) return WorkerThread::kWhenWoken;
  return std::max<std::int64_t>(0, round->next_due->ms - queue_->now().ms);
}

std::int64_t App::housekeeping_step() {
  database_->interrupt_stale_readers();
  return kHousekeepingMs;
}

std::int64_t App::probe_step() {
  if (const auto proof = queue_->probe(); !proof) {
    log_warning("store", "probe write refused", {{"problem", proof.error().detail}});
  }
  return WorkerThread::kWhenWoken;
}

/// At start and hourly, on a connection of its own: a large file takes longer than a reader may.
std::int64_t App::verify_step() {
  store::Connection db(database_->path(), store::OpenMode::read_only);
  const auto announce = [&](store::Connection* connection) {
    const Lock lock(verifying_mutex_);
    verifying_ = connection;
  };
  announce(&db);
  std::vector<store::Violation> violations;
  try {
    if (!draining_) violations = store::verify(db, false, [](auto&&...) {});
  } catch (const store::SqlError&) {
    announce(nullptr);
    if (draining_) return WorkerThread::kWhenWoken;  // interrupted to stop
    throw;
  }
  announce(nullptr);
  for (const store::Violation& violation : violations) {
    log_error("store", "invariant broken",
              {{"invariant", violation.invariant}, {"detail", violation.detail}});
  }
  invariants_hold_ = violations.empty();
  verified_at_ms_ = clock_.now().ms;
  return kVerifyEveryMs;
}

void App::interrupt_verification() {
  const Lock lock(verifying_mutex_);
  if (verifying_ != nullptr) verifying_->interrupt();
}

}  // namespace coffer
