#include "app/app.h"

#include <filesystem>

#include "api/pipeline/pipeline.h"
#include "base/check.h"
#include "base/files/folders.h"
#include "base/platform/exit_code.h"
#include "base/readable.h"
#include "base/telemetry/log.h"
#include "flows/operations/figures.h"
#include "flows/operations/file_keys.h"
#include "store/file/foreign_file.h"
#include "store/ledger/catalog.h"
#include "store/schema.h"

namespace coffer {
namespace {

constexpr std::string_view kCursorLabel = "coffer cursor v1";

int exit_code_of(store::OpenFault fault) {
  switch (fault) {
    case store::OpenFault::none:
      return exit_code::kDone;
    case store::OpenFault::cannot_create:
      return exit_code::kCannotCreate;
    case store::OpenFault::permission:
      return exit_code::kPermission;
    case store::OpenFault::full_disk:
    case store::OpenFault::locked:
      return exit_code::kBusy;
    case store::OpenFault::corrupt:
      return exit_code::kCorrupt;
    case store::OpenFault::missing:
    case store::OpenFault::newer_schema:
    case store::OpenFault::unsupported:
      return exit_code::kConfiguration;
  }
  throw InternalError("unknown open fault");
}

int exit_code_of(const Problem& problem) {
  if (problem.slug == Slug::forbidden) return exit_code::kPermission;
  if (problem.slug == Slug::storage_full) return exit_code::kBusy;
  return problem.slug == Slug::unexpected_error ? exit_code::kCannotCreate
                                                : exit_code::kConfiguration;
}

api::RateLimits rate_limits(const Config& config) {
  return {{config.rate_limit_production_per_s, config.rate_limit_production_burst},
          {config.rate_limit_sandbox_per_s, config.rate_limit_sandbox_burst},
          config.rate_limit_login_per_min};
}

/// Sets the CA bundle that was found. Without one, calls over TLS fail; the log contains the
/// reason.
outbound::MailSettings mail_settings(const Config& config) {
  return {.smtp_url = config.notify_smtp,
          .smtp_user = config.notify_smtp_user,
          .smtp_password = config.notify_smtp_password,
          .sendmail = config.notify_sendmail,
          .from = config.notify_from,
          .ca_bundle = config.ca_bundle};
}

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

/// The setting was validated when the configuration was read.
http::TrustedProxies trusted_proxies(const Config& config) {
  auto list = AddressList::parse(config.trusted_proxies);
  COFFER_CHECK(list.has_value());
  return http::TrustedProxies(*std::move(list));
}

/// The tables of a new database and the log of their creation fit into this.
constexpr std::uint64_t kNewDatabaseBytes = std::uint64_t{1} << 20;

/// `storage-full` if the queue would reject every write, or if the disk would become full after the
/// master key was created, which would remain with its folder.
Result<void> check_free_space(const Config& config) {
  std::string folder = directory_of(config.db);
  std::optional<std::uint64_t> free;
  while (!(free = free_disk_bytes(folder)) && folder != directory_of(folder)) {
    folder = directory_of(folder);  // it is created with the database
  }
  if (!free) return {};
  if (*free < kNewDatabaseBytes) {
    return unexpected(Slug::storage_full,
                      "not enough disk space: the disk of " + folder + " has " +
                          readable_bytes(static_cast<std::int64_t>(*free)) +
                          " of free space, and a new database needs 1 MiB. Free disk space, or "
                          "choose another disk with --db");
  }
  if ((*free >> 20) >= static_cast<std::uint64_t>(config.disk_floor_mib)) return {};
  return unexpected(
      Slug::storage_full,
      "the disk of " + folder + " has " + readable_bytes(static_cast<std::int64_t>(*free)) +
          " of free space, less than disk_floor_mib (" + std::to_string(config.disk_floor_mib) +
          " MiB), so the database was not created. Free disk space, choose another "
          "disk with --db, or lower disk_floor_mib");
}

/// A full disk, or a master key that cannot be used, must not leave a new database behind.
Result<void> check_new_file(const Config& config, Random& random) {
  if (store::holds_tables(config.db)) return {};
  std::error_code ignored;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(config.db, ignored)) &&
      !std::filesystem::exists(config.db, ignored)) {
    return unexpected(Slug::unexpected_error,
                      config.db +
                          " is a symbolic link to a file that does not exist. Create that "
                          "database first, or remove the link");
  }
  COFFER_TRY_VOID(check_free_space(config));
  const auto key = configured_key(config, random, auth::MissingKey::refuse);
  if (key || key.error().slug == Slug::not_found) return {};
  return unexpected(key.error());
}

StartError unreadable(const std::string& database, const store::SqlError& fault) {
  if (store::is_full_disk(fault)) {
    return {exit_code::kBusy, full_disk_problem("cannot open " + database).detail + " with --db"};
  }
  return {exit_code::kCorrupt,
          database + " cannot be read (" + fault.what() +
              "). Keep a copy of the file, and restore a backup. Never edit the file."};
}

Result<std::optional<std::string>> stored_key_check(store::Database& database) {
  return store::with_reader(
      database, [](store::Connection& db) { return store::read_meta(db, store::kKeyCheck); });
}

/// The configured key, which must be the one whose check value is `stored` in the file.
Result<auth::MasterKey> matching_key(const Config& config, Random& random,
                                     const std::optional<std::string>& stored) {
  auto key =
      configured_key(config, random, stored ? auth::MissingKey::refuse : auth::MissingKey::create);
  if (!key || !stored || *stored == key->fingerprint()) return key;
  return unexpected(Slug::validation_failed,
                    "the master key is not the key of " + config.db +
                        ". Set COFFER_MASTER_KEY_FILE to the file with the correct key");
}

/// The master key of this file. A new file gets a new key if the key is missing. For a file with
/// sealed secrets, a missing key is never replaced, and a wrong key is rejected.
Result<auth::MasterKey> open_master_key(const Config& config, Random& random,
                                        store::Database& database, store::CommitQueue& queue) {
  COFFER_TRY(const auto stored, stored_key_check(database));
  auto key = matching_key(config, random, stored);
  if (key && !stored) {
    COFFER_TRY_VOID(queue.run([&](store::WriteTx& tx) -> Result<void> {
      store::write_meta(tx, store::kKeyCheck, key->fingerprint());
      return {};
    }));
  }
  return key;
}

}  // namespace

Result<auth::MasterKey> configured_key(const Config& config, Random& random,
                                       auth::MissingKey missing) {
  auto key = auth::find_master_key(config.master_key, "COFFER_MASTER_KEY", config.master_key_file,
                                   random, missing);
  if (key) return key;
  const int code = exit_code_of(key.error());
  return unexpected(std::move(key).error().exits_with(code));
}

App::App(const Config& config, const Clock& clock, Random& random)
    : config_(with_ca_bundle(config)),
      clock_(clock),
      random_(random),
      proxies_(trusted_proxies(config)) {}

App::~App() { stop(); }

bool App::can_open(const Config& config, StartError& error) {
  const store::OpenError fault =
      store::why_not_opened({.path = config.db,
                             .link = config.db_link,
                             .allow_network_filesystem = config.allow_network_filesystem});
  if (fault.fault != store::OpenFault::none) {
    error = {exit_code_of(fault.fault), fault.message};
    return false;
  }
  OsRandom random;
  auto usable = check_new_file(config, random);
  const auto marks =
      usable && store::holds_tables(config.db) ? store::read_file_marks(config.db) : std::nullopt;
  if (marks && marks->key_check) {
    const auto key = matching_key(config, random, marks->key_check);
    if (!key) usable = unexpected(key.error());
  }
  if (!usable) error = {exit_code_of(usable.error()), usable.error().detail};
  return usable.has_value();
}

std::unique_ptr<App> App::open(const Config& config, const Clock& clock, Random& random,
                               StartError& error, Missing missing, std::string_view command,
                               const store::LockWait& waits) {
  const NewFolders folders(directory_of(config.db));
  const NewFolders key_folders(directory_of(config.master_key_file));
  std::unique_ptr<App> app(new App(config, clock, random));
  try {
    if (app->build(error, missing, command, waits)) return app;
  } catch (const store::SqlError& fault) {
    error = unreadable(config.db, fault);
  }
  if (app->database_) app->database_->discard();
  return nullptr;
}

bool App::build(StartError& error, Missing missing, std::string_view command,
                const store::LockWait& waits) {
  const bool creates = missing == Missing::create;
  if (const auto usable = creates ? check_new_file(config_, random_) : Result<void>(); !usable) {
    error = {exit_code_of(usable.error()), usable.error().detail};
    return false;
  }
  store::OpenError fault;
  database_ = store::Database::open({.path = config_.db,
                                     .link = config_.db_link,
                                     .command = std::string(command),
                                     .waits = waits,
                                     .readers = config_.readers,
                                     .allow_network_filesystem = config_.allow_network_filesystem,
                                     .creates = creates},
                                    clock_, fault);
  if (!database_) {
    error = {exit_code_of(fault.fault), fault.message};
    return false;
  }
  store::CommitQueueOptions options;
  options.queue_max = static_cast<std::size_t>(config_.queue_max);
  options.quotas = {config_.quota_sandbox, config_.quota_production};
  options.disk_floor_bytes = static_cast<std::uint64_t>(config_.disk_floor_mib) << 20;
  options.metrics = &metrics_;
  queue_ = std::make_unique<store::CommitQueue>(
      *database_, clock_, options, [this](store::Signal signal) { wake_worker(signal); });
  const auto key = open_master_key(config_, random_, *database_, *queue_);
  if (!key) {
    error = {exit_code_of(key.error()), key.error().detail};
    return false;
  }
  build_services(*key);
  auto hasher = flows::prepare_file_keys(*context_);
  if (!hasher) {
    const bool is_full = hasher.error().slug == Slug::storage_full;
    error = {is_full ? exit_code::kBusy : exit_code::kCorrupt, hasher.error().detail};
    return false;
  }
  hasher_ = *std::move(hasher);
  context_->hasher = hasher_.get();
  for (const auto part : {&App::build_logins, &App::build_webhooks}) {
    if (const auto built = (this->*part)(); !built) {
      error = {exit_code_of(built.error()), built.error().detail};
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
  connectors_ = std::make_unique<outbound::ConnectorRegistry>(queue_->clock(), *resolver_, *client_,
                                                              random_, &metrics_);
  context_ = std::make_unique<flows::Context>(
      flows::Context{*database_, *queue_, queue_->clock(), random_, *sealer_, *tokens_,
                     *connectors_, config_.network_name, config_.settle_delay_ms,
                     config_.token_lifetime_s * std::int64_t{1000}});
  messenger_ = std::make_unique<outbound::Messenger>(
      outbound::MessengerSettings{.mail = mail_settings(config_),
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
  services_.reset(new api::Services{*context_, api::Authenticator(*context_, proxies_),
                                    api::RateLimiter(rate_limits(config_), clock_), guesses_,
                                    proxies_, api::CursorCodec(key.derive(kCursorLabel)),
                                    [this] { return health(); }});
  pipeline_ = std::make_unique<api::Pipeline>(*services_);
  providers_ = std::make_unique<workers::ProviderLanes>(*context_);
  messages_ = std::make_unique<workers::Messages>(*context_, [this] {
    return store::with_reader(*database_, [this](store::Connection& db) {
      return Result(condition_facts(db, store::read_backlog(db)));
    });
  });
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
  logins_ = std::make_unique<flows::Logins>(
      flows::Logins{auth::ChallengeServer(std::move(key), passphrase), config_.home_domain,
                    config_.web_auth_domain, !config_.tls_cert.empty(),
                    [this] { return connectable(config_.listen_http, port()).to_string(); },
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
  deliveries_ = std::make_unique<workers::WebhookDelivery>(*context_, config_.webhook_senders,
                                                           config_.webhook_in_flight);
  return {};
}

void App::set_password_cost(const auth::ScryptCost& cost) { context_->password_cost = cost; }

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
      if (messages_) messages_->wake();
      break;
  }
}

http::Response App::handle(http::Request& request) { return pipeline_->handle(request); }

Result<http::Admission> App::admit(const http::Request& head, std::uint64_t body_bytes) const {
  return pipeline_->admit(head, body_bytes);
}

}  // namespace coffer
