#include "app.h"

#include "api/pipeline/pipeline.h"
#include "auth/master_key.h"
#include "base/log.h"
#include "flows/settle_payment.h"
#include "store/catalog.h"
#include "store/invariants.h"

namespace coffer {
namespace {

constexpr std::string_view kKeyCheck = "master_key_check";
constexpr std::string_view kCursorLabel = "coffer cursor v1";
constexpr int kSettleBatch = 256;
constexpr std::int64_t kHousekeepingMs = 200;
constexpr std::int64_t kVerifyEveryMs = 3'600'000;
constexpr std::int64_t kProbeEveryMs = 2'000;
constexpr std::int64_t kProbeAgeMaxMs = 5'000;

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

/// A key that does not fit the file would seal new secrets that the old ones cannot join.
Result<void> check_master_key(store::Database& database, store::CommitQueue& queue,
                              const auth::MasterKey& key) {
  COFFER_TRY(const auto stored,
             store::with_reader(
                 database, [](store::Connection& db) -> Result<std::optional<std::string>> {
                   return store::read_meta(db, kKeyCheck);
                 }));
  if (stored) {
    if (*stored == key.fingerprint()) return {};
    return unexpected(Slug::validation_failed,
                      "the master key is not the one this file was made with; give the right one "
                      "(COFFER_MASTER_KEY_FILE)");
  }
  return queue.run([&](store::WriteTx& tx) -> Result<void> {
    store::write_meta(tx, kKeyCheck, key.fingerprint());
    return {};
  });
}

}  // namespace

App::App(const Config& config, const Clock& clock, Random& random)
    : config_(config), clock_(clock), random_(random) {}

App::~App() { stop(); }

std::unique_ptr<App> App::open(const Config& config, const Clock& clock, Random& random,
                               StartError& error) {
  std::unique_ptr<App> app(new App(config, clock, random));
  if (!app->build(error)) return nullptr;
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
  queue_ = std::make_unique<store::CommitQueue>(
      *database_, clock_, options, [this](store::Signal signal) {
        if (signal == store::Signal::settlement && settlement_) settlement_->wake();
      });
  const auto key =
      config_.master_key.empty()
          ? auth::load_or_create_master_key(config_.master_key_file, random_,
                                            auth::MissingKey::create)
          : auth::parse_master_key(config_.master_key.reveal(), "COFFER_MASTER_KEY");
  if (!key) {
    error = {exit_code(key.error()), key.error().detail};
    return false;
  }
  if (const auto fits = check_master_key(*database_, *queue_, *key); !fits) {
    error = {exit_code(fits.error()), fits.error().detail};
    return false;
  }
  build_services(*key);
  return true;
}

void App::build_services(const auth::MasterKey& key) {
  sealer_ = std::make_unique<auth::Sealer>(key, random_);
  tokens_ = std::make_unique<auth::TokenIssuer>(key.derive(auth::kTokenLabel));
  context_ = std::make_unique<flows::Context>(flows::Context{
      *database_, *queue_, clock_, random_, *sealer_, *tokens_, config_.network_name,
      config_.settle_delay_ms, config_.token_lifetime_s * std::int64_t{1000}});
  // Built in place: its parts hold locks and cannot move.
  services_.reset(new api::Services{
      *context_, api::Authenticator(*context_), api::RateLimiter(rate_limits(config_), clock_),
      api::CursorCodec(key.derive(kCursorLabel)), [this] { return health(); }});
  pipeline_ = std::make_unique<api::Pipeline>(*services_);
}

http::Response App::handle(http::Request& request) { return pipeline_->handle(request); }

api::Health App::health() const {
  const store::CommitStats stats = queue_->stats();
  const bool fresh = clock_.now().ms - stats.last_commit_ms < kProbeAgeMaxMs;
  return {{{"writer", fresh && !stats.storage_full},
           {"disk", !stats.storage_full},
           {"invariants", invariants_hold_},
           {"serving", !draining_}}};
}

bool App::serve(StartError& error) {
  http::ServerOptions options;
  options.host = config_.listen_http.host;
  options.port = config_.listen_http.port;
  options.workers = static_cast<std::size_t>(config_.workers);
  options.tls_cert_file = config_.tls_cert;
  options.tls_key_file = config_.tls_key;
  options.limits.connections_max = static_cast<std::size_t>(config_.max_connections);
  options.limits.body_bytes_for = api::Pipeline::body_bytes_max;
  server_ = std::make_unique<http::Server>(
      options, random_, [this](http::Request& request) { return pipeline_->handle(request); });
  settlement_ =
      std::make_unique<WorkerThread>("settlement", [this] { return settlement_step(); });
  housekeeping_ =
      std::make_unique<WorkerThread>("housekeeping", [this] { return housekeeping_step(); });
  verifier_ = std::make_unique<WorkerThread>("verifier", [this] { return verify_step(); });
  if (const auto started = server_->start(); !started) {
    error = {1, started.error().detail};
    return false;
  }
  settlement_->start();
  housekeeping_->start();
  verifier_->start();
  return true;
}

int App::port() const { return server_ ? server_->port() : 0; }

Result<void> App::reload_tls() { return server_ ? server_->reload_tls() : Result<void>(); }

void App::stop() {
  if (stopped_) return;
  stopped_ = true;
  draining_ = true;
  if (server_) server_->stop(config_.drain_s * 1000);
  if (housekeeping_) housekeeping_->stop();
  if (verifier_) verifier_->stop();
  if (settlement_) settlement_->stop();
  if (queue_) queue_->stop();
}

int App::settle_once() {
  const auto round = flows::settle_due_payments(*context_, kSettleBatch);
  return round ? round->settled : 0;
}

std::int64_t App::settlement_step() {
  const auto round = flows::settle_due_payments(*context_, kSettleBatch);
  if (!round) return 1'000;  // overloaded or disk full: the jobs wait in their rows
  if (round->settled == kSettleBatch) return 0;
  if (!round->next_due) return WorkerThread::kWhenWoken;
  return std::max<std::int64_t>(0, round->next_due->ms - clock_.now().ms);
}

std::int64_t App::housekeeping_step() {
  database_->interrupt_stale_readers();
  if (clock_.now().ms - queue_->stats().last_commit_ms > kProbeEveryMs) {
    // An idle writer proves that it can still write.
    static_cast<void>(queue_->probe());
  }
  return kHousekeepingMs;
}

/// At start and hourly, on a connection of its own: a large file takes longer than a reader may.
std::int64_t App::verify_step() {
  store::Connection db(database_->path(), store::OpenMode::read_only);
  const auto violations = store::verify(db, false, [](auto&&...) {});
  for (const store::Violation& violation : violations) {
    log_error("store", "invariant broken",
              {{"invariant", violation.invariant}, {"detail", violation.detail}});
  }
  invariants_hold_ = violations.empty();
  return kVerifyEveryMs;
}

}  // namespace coffer
