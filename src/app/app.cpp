#include "app/app.h"

#include "api/about/openapi.h"
#include "base/check.h"
#include "base/files/folders.h"
#include "base/platform/exit_code.h"
#include "base/telemetry/log.h"
#include "base/thread.h"
#include "flows/operations/figures.h"
#include "flows/operations/file_keys.h"
#include "outbound/operations/messenger.h"
#include "store/file/foreign_file.h"

namespace coffer {
namespace {

constexpr std::string_view kCursorLabel = "coffer cursor v1";

/// Sets the CA bundle that was found. Without one, calls over TLS fail; the log says why.
Config with_ca_bundle(Config config) {
  auto found = http::find_ca_bundle(config.ca_bundle);
  if (!found) {
    log_warning("outbound", "no trusted root certificates; calls over TLS fail",
                {{"problem", found.error().detail}});
  }
  config.ca_bundle = found ? *std::move(found) : std::string();
  return config;
}

std::vector<std::int64_t> delays_ms(const std::vector<std::string>& seconds) {
  std::vector<std::int64_t> out;
  for (const std::string& text : seconds) out.push_back(std::stoll(text) * 1'000);
  return out;
}

DeliveryPolicy delivery_policy(const Config& config) {
  return {.attempts = config.webhook_attempts,
          .production_delays_ms = delays_ms(config.webhook_retry_s),
          .sandbox_delays_ms = delays_ms(config.webhook_sandbox_retry_s),
          .retry_after_max_ms = config.webhook_retry_after_max_s * std::int64_t{1000},
          .grace_s = config.webhook_grace_s,
          .body_bytes_max = static_cast<std::size_t>(config.webhook_body_max_kib) * 1024,
          .body_days = config.webhook_body_days,
          .log_days = config.webhook_log_days};
}

api::RequestLogOptions request_log_options(const Config& config) {
  return {.limits = {.age_max_ms = config.request_log_days * kDayMs,
                     .bytes_max = static_cast<std::uint64_t>(config.request_log_mib) << 20},
          .sandbox_bodies = config.request_log >= RequestLogging::sandbox,
          .production_bodies = config.request_log == RequestLogging::bodies};
}

/// The setting was validated when the configuration was read.
http::TrustedProxies trusted_proxies(const Config& config) {
  auto list = AddressList::parse(config.trusted_proxies);
  COFFER_CHECK(list.has_value());
  return http::TrustedProxies(*std::move(list));
}

}  // namespace

App::App(const Config& config, const Clock& clock, Random& random)
    : config_(with_ca_bundle(config)),
      clock_(clock),
      random_(random),
      proxies_(trusted_proxies(config)) {}

App::~App() { stop(); }

std::unique_ptr<App> App::open(const Config& config, const Clock& clock, Random& random,
                               StartError& error, Missing missing, std::string_view command,
                               const OtherUsers& others) {
  const NewFolders folders(directory_of(config.db));
  const NewFolders key_folders(directory_of(config.master_key_file));
  std::unique_ptr<App> app(new App(config, clock, random));
  try {
    const auto built = app->build(missing, command, others);
    if (built) return app;
    error = start_error(built.error());
  } catch (const store::SqlError& fault) {
    error = start_error(unreadable(config.db, fault));
  }
  if (app->database_) app->database_->discard();
  return nullptr;
}

Result<void> App::open_database(Missing missing, std::string_view command,
                                const OtherUsers& others) {
  const bool creates = missing == Missing::create;
  if (creates) COFFER_TRY_VOID(check_new_file(config_, random_));
  if (!others.beside) {
    COFFER_TRY(replica_, open_replica(config_, random_));
  }
  if (replica_) {
    store::Replication& with = replica_->replication();
    if (others.follow) with.follow = others.follow;
    with.leader.took = [&appends = metrics_.histogram("coffer_log_append_duration_seconds",
                                                      "Appends to the shared log, in seconds.",
                                                      kWorkBuckets)](std::int64_t us) {
      appends.observe(us);
    };
  } else if (!config_.archive.empty() && command.empty() && !others.beside) {
    const bool is_new = creates && !store::holds_tables(config_.db);
    COFFER_TRY(replica_,
               open_log_alone(config_, random_,
                              is_new ? auth::MissingKey::create : auth::MissingKey::refuse));
  }
  store::OpenError fault;
  database_ = store::Database::open({.path = config_.db,
                                     .link = config_.db_link,
                                     .command = std::string(command),
                                     .waits = others.waits,
                                     .readers = config_.readers,
                                     .allow_network_filesystem = config_.allow_network_filesystem,
                                     .creates = creates,
                                     .replication = replica_ ? &replica_->replication() : nullptr,
                                     .beside = others.beside},
                                    clock_, fault);
  if (!database_) return unexpected(open_problem(fault));
  return {};
}

Result<void> App::build(Missing missing, std::string_view command, const OtherUsers& others) {
  COFFER_TRY_VOID(open_database(missing, command, others));
  store::CommitQueueOptions options{.queue_max = static_cast<std::size_t>(config_.queue_max),
                                    .disk_floor_bytes = config_.disk_floor_bytes(),
                                    .metrics = &metrics_,
                                    .quotas = {config_.quota_sandbox, config_.quota_production}};
  if (others.beside) options.rejects = [leader = others.leader] { return not_leader(leader()); };
  const auto wake = [this](store::Signal signal) {
    if (background_) background_->wake(signal);
  };
  queue_ = std::make_unique<store::CommitQueue>(*database_, clock_, options, wake);
  COFFER_TRY(const auto key, open_master_key(config_, random_, *database_, *queue_));
  build_services(key);
  if (database_->leader() != nullptr) begin_to_lead();
  OpenArchive open;
  if (!config_.archive.empty()) open = archive_at(config_.archive, config_, key, random_);
  archiving_ = std::make_unique<Archiving>(
      config_, *context_, command.empty() ? replica_.get() : nullptr, std::move(open));
  auto hasher = flows::prepare_file_keys(*context_);
  if (!hasher) {
    const bool is_full = hasher.error().slug == Slug::storage_full;
    return unexpected(
        std::move(hasher).error().exits_with(is_full ? exit_code::kBusy : exit_code::kCorrupt));
  }
  hasher_ = *std::move(hasher);
  context_->hasher = hasher_.get();
  COFFER_TRY_VOID(build_logins());
  return build_webhooks();
}

void App::build_services(const auth::MasterKey& key) {
  sealer_ = std::make_unique<auth::Sealer>(key, random_);
  tokens_ = std::make_unique<auth::TokenIssuer>(key.derive(auth::kTokenLabel));
  client_ = std::make_unique<http::Client>(config_.ca_bundle);
  resolver_ = std::make_unique<outbound::CaresResolver>();
  connectors_ = std::make_unique<outbound::ConnectorRegistry>(queue_->clock(), *resolver_, *client_,
                                                              random_, &metrics_);
  context_ = std::make_unique<flows::Context>(
      flows::Context{*database_, *queue_, queue_->clock(), random_, *sealer_, *tokens_,
                     *connectors_, config_.network_name, config_.settle_delay_ms,
                     config_.token_lifetime_s * std::int64_t{1000}});
  messenger_ = std::make_unique<outbound::Messenger>(
      outbound::MessengerSettings{.mail = {.smtp_url = config_.notify_smtp,
                                           .smtp_user = config_.notify_smtp_user,
                                           .smtp_password = config_.notify_smtp_password,
                                           .sendmail = config_.notify_sendmail,
                                           .from = config_.notify_from,
                                           .ca_bundle = config_.ca_bundle},
                                  .gateway_url = config_.notify_gateway_url,
                                  .gateway_token = config_.notify_gateway_token,
                                  .webhook_url = config_.alert_webhook_url,
                                  .webhook_secret = config_.alert_webhook_secret,
                                  .alert_email = config_.alert_email,
                                  .ca_bundle = config_.ca_bundle,
                                  .timeout_ms = config_.webhook_timeout_ms},
      clock_, *resolver_, *client_);
  context_->messenger = messenger_.get();
  figures_ = std::make_unique<flows::Figures>(metrics_);
  context_->metrics = &metrics_;
  context_->figures = figures_.get();
  context_->guesses = &guesses_;
  // Built in place: its parts hold locks and cannot move.
  services_.reset(new api::Services{
      *context_, api::Authenticator(*context_, proxies_),
      api::RateLimiter({{config_.rate_limit_production_per_s, config_.rate_limit_production_burst},
                        {config_.rate_limit_sandbox_per_s, config_.rate_limit_sandbox_burst},
                        config_.rate_limit_login_per_min},
                       clock_),
      guesses_, proxies_, api::CursorCodec(key.derive(kCursorLabel)),
      [this] { return background_->health(); }});
  pipeline_ = std::make_unique<api::Pipeline>(*services_);
  listeners_ = std::make_unique<Listeners>(config_, random_, *services_, *pipeline_);
}

/// Call it after the context exists, because it stores the key that signs challenges.
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
      [this] { return connectable(config_.listen_http, listeners_->port()).to_string(); },
      std::move(external)});
  context_->logins = logins_.get();
  return {};
}

Result<void> App::build_webhooks() {
  COFFER_TRY(auto allowed, outbound::AllowedTargets::parse(config_.webhook_allow_targets,
                                                           config_.webhook_allow_ports));
  webhooks_.reset(
      new flows::Webhooks{outbound::WebhookSender(clock_, *resolver_, std::move(allowed),
                                                  config_.ca_bundle, config_.webhook_timeout_ms),
                          delivery_policy(config_)});
  context_->webhooks = webhooks_.get();
  background_ = std::make_unique<Background>(config_, clock_, *services_, *connectors_, *client_,
                                             *resolver_, *archiving_);
  return {};
}

bool App::serve(StartError& error, const AdminPages& admin) {
  background_->announce();
  if (config_.request_log != RequestLogging::off) {
    // Payments may use twice the reserved space before the log stops growing.
    const auto floor = config_.disk_floor_bytes() * 2;
    request_log_ = std::make_unique<api::RequestLog>(
        store::request_log_path(config_.db), request_log_options(config_), clock_, metrics_,
        [this, floor] { return database_->free_bytes() >= floor; }, api::document_redactor);
    services_->request_log = request_log_.get();
  }
  if (!listeners_->start(error, admin)) return false;
  if (request_log_) request_log_->start();
  background_->start();
  return true;
}

void App::stop(const std::function<void()>& stop_commands) {
  if (stopped_) return;
  stopped_ = true;
  if (background_) background_->drain();
  const int drain_ms = config_.drain_s * 1000;
  if (queue_) queue_->end_waits_after(drain_ms);
  // Requests, commands and workers may wait for other machines, each longer than the server may
  // take.
  if (resolver_) resolver_->cut_after(drain_ms);
  if (client_) client_->cut_after(drain_ms);
  if (webhooks_) webhooks_->sender.cut_after(drain_ms);
  if (messenger_) messenger_->cut_after(drain_ms);
  {
    // Both at a time, because a command may take as long as a request.
    const Thread commands("command-stop", [&] { stop_commands(); });
    if (listeners_) listeners_->stop(drain_ms);
  }
  if (background_) background_->stop();
  if (request_log_) request_log_->stop();
  if (queue_) queue_->stop();
  if (archiving_) archiving_->finish();
}

}  // namespace coffer
