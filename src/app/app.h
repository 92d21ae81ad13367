// The composition root: builds all objects in order, starts the threads, and stops them in reverse
// order.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/pipeline/pipeline.h"
#include "api/pipeline/services.h"
#include "auth/master_key.h"
#include "base/clock.h"
#include "base/limits/guess_table.h"
#include "base/random.h"
#include "base/telemetry/metrics.h"
#include "base/telemetry/worker_thread.h"
#include "config/config.h"
#include "flows/context.h"
#include "flows/identity/login.h"
#include "flows/identity/operator_sessions.h"
#include "flows/operations/checkpoint_rounds.h"
#include "flows/webhooks/webhooks.h"
#include "http/client.h"
#include "http/client_address.h"
#include "http/wire/server.h"
#include "outbound/operations/messenger.h"
#include "outbound/providers/connector_registry.h"
#include "outbound/wire/resolver.h"
#include "store/commit_queue.h"
#include "store/database.h"
#include "store/operations/backlog.h"
#include "store/operations/verification.h"
#include "workers/messages.h"
#include "workers/provider_lanes.h"
#include "workers/webhooks.h"

namespace coffer::flows {
class Figures;  // flows/operations/figures.h
}

namespace coffer {

/// The reason why opening or starting failed, with the exit code of the command line
/// (docs/contract.md#command-line): 73 cannot create, 74 corrupt, 75 locked or disk full, 77
/// permission, 78 configuration, 1 otherwise.
struct StartError {
  int exit_code = 1;
  std::string message;
  std::string setting = {};  // with the address on which coffer cannot listen; else empty
};

/// The master key to which the settings lead. `missing`: whether to create a missing one.
Result<auth::MasterKey> configured_key(const Config& config, Random& random,
                                       auth::MissingKey missing);

/// The address of a listener as bound, so a wildcard stays a wildcard.
struct ListenAddress {
  HostPort address;
  bool tls = false;
  std::string url() const { return (tls ? "https://" : "http://") + address.to_string(); }
};

/// The admin page as served by a listener.
struct AdminPages {
  http::Handler handle;
  http::Admit admit;
  // Whether a path on a shared listener belongs to the admin page.
  bool (*owns)(std::string_view path) = nullptr;
};

/// One opened coffer file with all objects that work on it. `open` provides the flows; `serve` adds
/// the listener and the workers. Commands that work on a file do not call `serve`.
class App {
 public:
  /// What to do about a database that does not exist or is empty.
  enum class Missing { refuse, create };
  /// Opens the file or, if it may, creates it and its master key. On failure, returns nullptr and
  /// fills `error`.
  /// `clock` and `random` must outlive the App. `command` is the command that opens the file, for
  /// other processes that wait for it; empty: a server. `waits`: DatabaseOptions.
  static std::unique_ptr<App> open(const Config& config, const Clock& clock, Random& random,
                                   StartError& error, Missing missing,
                                   std::string_view command = {},
                                   const store::LockWait& waits = {});
  /// Whether `open` would accept the file, creating a missing one, and its master key. Returns
  /// false with `error` filled otherwise. Changes and locks nothing: only for a file that no
  /// process has open.
  static bool can_open(const Config& config, StartError& error);
  /// Whether `serve` could now use the addresses and the certificate. Returns false with `error`
  /// filled otherwise. Call it before `open` creates a file that would be left behind.
  static bool can_serve(const Config& config, StartError& error);
  ~App();  // stops
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  const flows::Context& flows() const { return *context_; }
  store::Database& database() { return *database_; }
  store::CommitQueue& queue() { return *queue_; }
  const Config& config() const { return config_; }
  const outbound::ConnectorRegistry& connectors() const { return *connectors_; }
  http::Client& client() { return *client_; }
  outbound::Resolver& resolver() { return *resolver_; }
  Timestamp opened_at() const { return opened_at_; }
  /// The request pipeline without a listener, for tests.
  http::Response handle(http::Request& request);

  /// Lets the API reference call operations, as in a demo. Call it before `serve`.
  void offer_trial();

  /// Lane, caller and body limit of a request to the API.
  Result<http::Admission> admit(const http::Request& head, std::uint64_t body_bytes) const;

  /// Starts listeners and workers. Returns false with `error` filled if an address is not
  /// available. `admin` gets its own listener, or shares that of the API if both have the same
  /// address.
  bool serve(StartError& error, const AdminPages& admin = {});
  int port() const;
  /// The address of the API, and of the admin page, which may be the same; nullopt while not
  /// served.
  std::optional<ListenAddress> api_address() const;
  std::optional<ListenAddress> admin_address() const;
  /// Metrics of this App. Thread-safe.
  Metrics& metrics() { return metrics_; }
  /// Counts of wrong secrets, at the API and on the admin page. Thread-safe.
  GuessTable& guesses() { return guesses_; }
  const http::TrustedProxies& proxies() const { return proxies_; }
  /// The sessions of the admin page. Thread-safe.
  flows::OperatorSessions& sessions() { return sessions_; }
  /// The figures that determine which conditions hold. Thread-safe.
  ConditionFacts condition_facts(store::Connection& db, const store::Backlog& backlog) const;
  /// The result of a verification that an operator ran on the served file, for /healthz and the
  /// conditions, beside that of the background verification. Thread-safe.
  void note_verification(bool holds);
  /// The result for /healthz. Thread-safe, like the following functions.
  api::Health health() const;
  /// Result and time of the last verification of the ledger; 1970 before the first.
  bool invariants_hold() const { return invariants_hold_; }
  Timestamp verified_at() const { return {verified_at_ms_}; }
  /// Figures of the API listener, and of the admin listener if there is one; nullopt while not
  /// served.
  std::optional<http::ServerStats> server_stats() const;
  std::optional<http::ServerStats> admin_server_stats() const;
  /// The origin of the admin page for a browser on this machine, such as `http://127.0.0.1:8081`;
  /// while not served, derived from the settings.
  std::string admin_origin() const;
  /// Reloads certificate and key, for SIGHUP.
  Result<void> reload_tls();
  /// Stops gracefully within `config.drain_s`: no new connections, responses to accepted requests,
  /// workers stopped, queue drained. Idempotent. `stop_commands` runs beside the end of the
  /// requests, and returns when no other command uses this object.
  void stop(const std::function<void()>& stop_commands = [] {});

  /// Sets the cost of new password hashes, for tests, which create many.
  void set_password_cost(const auth::ScryptCost& cost);
  /// Runs the due work of settlement and the provider lanes; for tests with a manual clock.
  int settle_once();
  /// Makes all due deliveries and returns the number of attempts; for tests with a manual clock.
  int deliver_once();
  /// Stores the last uses of API keys, which are collected in memory. Called once a minute and at
  /// the stop.
  void store_secret_uses();
  /// Checks the conditions for alerts, sends all due messages and returns their number; for tests
  /// with a manual clock.
  int send_messages_once();

 private:
  App(const Config& config, const Clock& clock, Random& random);
  bool build(StartError& error, Missing missing, std::string_view command,
             const store::LockWait& waits);
  Result<void> build_logins();
  Result<void> build_webhooks();
  void build_services(const auth::MasterKey& key);
  void make_workers();
  void wake_worker(store::Signal signal);
  bool start_listeners(StartError& error, const AdminPages& admin);
  bool start_admin(StartError& error, const AdminPages& admin);
  bool admin_has_tls() const;
  http::Response with_strict_transport(const http::Request& request, http::Response response,
                                       bool tls) const;
  std::int64_t settlement_step();
  std::int64_t housekeeping_step();
  std::int64_t probe_step();
  std::int64_t verify_step();
  void judge_balances();
  std::int64_t checkpoint_step();

  const Config config_;
  const Clock& clock_;  // the machine's clock; flows use the queue's clock
  const Timestamp opened_at_ = clock_.now();
  Random& random_;
  Metrics metrics_;
  GuessTable guesses_;
  http::TrustedProxies proxies_;
  flows::OperatorSessions sessions_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<store::CommitQueue> queue_;
  std::unique_ptr<const auth::SecretHasher> hasher_;
  std::unique_ptr<auth::Sealer> sealer_;
  std::unique_ptr<auth::TokenIssuer> tokens_;
  std::unique_ptr<http::Client> client_;
  std::unique_ptr<outbound::Resolver> resolver_;
  std::unique_ptr<outbound::ConnectorRegistry> connectors_;
  std::unique_ptr<outbound::Messenger> messenger_;
  std::unique_ptr<flows::Logins> logins_;
  std::unique_ptr<flows::Webhooks> webhooks_;
  std::unique_ptr<flows::Figures> figures_;
  std::unique_ptr<flows::Context> context_;
  std::unique_ptr<api::Services> services_;
  std::unique_ptr<api::RequestLog> request_log_;  // null while not served, or if turned off
  std::unique_ptr<api::Pipeline> pipeline_;
  std::unique_ptr<WorkerThread> settlement_;
  std::unique_ptr<workers::ProviderLanes> providers_;
  std::unique_ptr<workers::WebhookDelivery> deliveries_;
  std::unique_ptr<workers::Messages> messages_;
  std::unique_ptr<WorkerThread> housekeeping_;
  std::unique_ptr<WorkerThread> backups_;  // null without a backup folder
  std::unique_ptr<WorkerThread> prober_;
  std::unique_ptr<WorkerThread> verifier_;
  std::unique_ptr<flows::CheckpointRounds> checkpoints_;
  std::unique_ptr<WorkerThread> head_signer_;
  std::uint64_t foreign_changes_ = store::foreign_changes();  // for the thread of housekeeping
  store::Verification verification_;                          // for the verifier's thread
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Server>
      admin_server_;                 // null if shared, disabled, or its address was in use
  std::int64_t uses_stored_ms_ = 0;  // monotonic; for the housekeeping thread
  std::atomic<std::int64_t> settling_since_ms_{0};  // monotonic; 0: no round is running
  std::atomic<bool> starting_{false};
  std::atomic<bool> draining_{false};
  std::atomic<bool> invariants_hold_{true};
  std::atomic<bool> operator_found_faults_{false};
  std::atomic<std::int64_t> verified_at_ms_{0};
  bool stopped_ = false;
};

}  // namespace coffer
