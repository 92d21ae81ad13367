// The composition root: builds all objects in order, starts the threads, and stops them in reverse
// order.
#pragma once

#include "app/archiving.h"
#include "app/background.h"
#include "app/listeners.h"
#include "base/telemetry/metrics.h"
#include "flows/identity/login.h"
#include "flows/identity/operator_sessions.h"
#include "flows/webhooks/webhooks.h"
#include "http/client.h"
#include "outbound/wire/resolver.h"
#include "store/replication/joining.h"

namespace coffer::store {
class Replica;  // store/replication/replica.h
}

namespace coffer::flows {
class Figures;  // flows/operations/figures.h
}

namespace coffer {

/// How to open a file that others use.
struct OtherUsers {
  store::LockWait waits = {};  // DatabaseOptions
  // With replication, Replication::follow; without it, `overloaded` if another machine leads.
  std::function<store::FollowNext(const store::Following&)> follow = {};
  // DatabaseOptions: only reads, while this process follows the machine at `leader`.
  const store::HeldFile* beside = nullptr;
  std::function<std::string()> leader = {};
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
  /// other processes that wait for it; empty: a server.
  static std::unique_ptr<App> open(const Config& config, const Clock& clock, Random& random,
                                   StartError& error, Missing missing,
                                   std::string_view command = {}, const OtherUsers& others = {});
  ~App();  // stops
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  /// Starts listeners and workers. Returns false with `error` filled if an address is not
  /// available.
  bool serve(StartError& error, const AdminPages& admin = {});
  /// Stops gracefully within `config.drain_s`: no new connections, responses to accepted requests,
  /// workers stopped, queue drained. Idempotent. `stop_commands` runs beside the end of the
  /// requests, and returns when no other command uses this object.
  void stop(const std::function<void()>& stop_commands = [] {});
  /// Lets the API reference call operations, as in a demo. Call it before `serve`.
  void offer_trial() { services_->offers_trial = true; }
  /// As after a takeover, for tests: another machine may have led until now.
  void begin_to_lead() { context_->leads_since = queue_->now(); }
  /// Sets the cost of new password hashes, for tests, which create many.
  void set_password_cost(const auth::ScryptCost& cost) { context_->password_cost = cost; }

  const Config& config() const { return config_; }
  Timestamp opened_at() const { return opened_at_; }
  const flows::Context& flows() const { return *context_; }
  store::Database& database() { return *database_; }
  store::CommitQueue& queue() { return *queue_; }
  http::Client& client() { return *client_; }
  outbound::Resolver& resolver() { return *resolver_; }
  const outbound::ConnectorRegistry& connectors() const { return *connectors_; }
  const http::TrustedProxies& proxies() const { return proxies_; }
  Metrics& metrics() { return metrics_; }
  /// The sessions of the admin page. Thread-safe.
  flows::OperatorSessions& sessions() { return sessions_; }
  /// The requests of the API, also without a listener.
  api::Pipeline& pipeline() { return *pipeline_; }
  Listeners& listeners() const { return *listeners_; }
  Background& background() const { return *background_; }

 private:
  App(const Config& config, const Clock& clock, Random& random);
  Result<void> build(Missing missing, std::string_view command, const OtherUsers& others);
  Result<void> open_database(Missing missing, std::string_view command, const OtherUsers& others);
  void build_services(const auth::MasterKey& key);
  Result<void> build_logins();
  Result<void> build_webhooks();

  const Config config_;
  const Clock& clock_;  // the machine's clock; flows use the queue's clock
  const Timestamp opened_at_ = clock_.now();
  Random& random_;
  Metrics metrics_;
  GuessTable guesses_;
  http::TrustedProxies proxies_;
  flows::OperatorSessions sessions_;
  std::unique_ptr<store::Replica> replica_;  // null without a log
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
  std::unique_ptr<Listeners> listeners_;
  std::unique_ptr<Archiving> archiving_;
  std::unique_ptr<Background> background_;
  bool stopped_ = false;
};

}  // namespace coffer
