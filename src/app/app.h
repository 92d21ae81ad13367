// The composition root: builds everything in order, starts the threads, stops them in reverse.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/pipeline/pipeline.h"
#include "api/pipeline/services.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/telemetry/metrics.h"
#include "base/worker_thread.h"
#include "config/config.h"
#include "flows/context.h"
#include "flows/identity/login.h"
#include "flows/webhooks/webhooks.h"
#include "http/client.h"
#include "http/server.h"
#include "outbound/operations/notifier.h"
#include "outbound/providers/connector_registry.h"
#include "outbound/resolver.h"
#include "store/commit_queue.h"
#include "store/database.h"
#include "store/operations/verification.h"
#include "workers/notifications.h"
#include "workers/provider_lanes.h"
#include "workers/webhooks.h"

namespace coffer::flows {
class Figures;  // flows/operations/figures.h
}

namespace coffer {

/// Why opening or starting failed, with the exit code that the command line reports
/// (docs/contract.md#command-line): 73 cannot create, 74 corrupt, 75 locked, 77 permission,
/// 78 configuration, 1 otherwise.
struct StartError {
  int exit_code = 1;
  std::string message;
};

/// Where a listener takes connections: as bound, so a wildcard stays one.
struct ListenAddress {
  HostPort address;
  bool tls = false;
  std::string url() const { return (tls ? "https://" : "http://") + address.to_string(); }
};

/// The admin page, as listeners serve it.
struct AdminPages {
  http::Handler handle;
  http::Admit admit;
  bool (*owns)(std::string_view path) = nullptr;  // of the paths of a shared listener
};

/// One opened coffer file with everything that works on it. `open` gives the flows; `serve` adds
/// the listener and the workers. Commands that work on a file use it without `serve`.
class App {
 public:
  /// `clock` and `random` outlive the App. Opens or creates the file and its master key. On a fault
  /// returns nullptr and fills `error`.
  static std::unique_ptr<App> open(const Config& config, const Clock& clock, Random& random,
                                   StartError& error);
  ~App();  // stops
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  const flows::Context& flows() const { return *context_; }
  store::Database& database() { return *database_; }
  store::CommitQueue& queue() { return *queue_; }
  const Config& config() const { return config_; }
  const outbound::ConnectorRegistry& connectors() const { return *connectors_; }
  Timestamp opened_at() const { return opened_at_; }
  /// The request pipeline, callable without a listener; for tests.
  http::Response handle(http::Request& request);

  /// Lane, caller and body limit of a request to the API.
  Result<http::Admission> admit(const http::Request& head, std::uint64_t body_bytes) const;

  /// Starts listeners and workers. False with `error` filled if an address is not available.
  /// `admin` answers on a listener of its own, or on that of the API where the settings give both
  /// one address.
  bool serve(StartError& error, const AdminPages& admin = {});
  int port() const;
  /// Of the API, and of the admin page, which may be the same; nothing where none is served.
  std::optional<ListenAddress> api_address() const;
  std::optional<ListenAddress> admin_address() const;
  /// What is counted while this App is open. Safe from any thread.
  Metrics& metrics() { return metrics_; }
  /// The truth for /healthz. From any thread, as the following.
  api::Health health() const;
  /// What the last verification of the ledger said, and when it was; 1970 before the first.
  bool invariants_hold() const { return invariants_hold_; }
  Timestamp verified_at() const { return {verified_at_ms_}; }
  /// Of the listener of the API, and of the admin page where it has its own; nothing while none is
  /// served.
  std::optional<http::ServerStats> server_stats() const;
  std::optional<http::ServerStats> admin_server_stats() const;
  /// How a browser on this machine reaches the admin page, as in `http://127.0.0.1:8081`; also
  /// while nothing is served, by the settings.
  std::string admin_origin() const;
  /// Certificate and key again, after SIGHUP.
  Result<void> reload_tls();
  /// Graceful, within `config.drain_s`: no new connections, accepted requests answered, workers
  /// stopped, queue drained. Idempotent.
  void stop();

  /// Runs what settlement and the provider lanes would run now; for tests under a manual clock.
  int settle_once();
  /// Delivers what is due now, and gives the number of attempts; for tests under a manual clock.
  int deliver_once();
  /// Sends the notifications that are due now, and gives their number; for tests, as above.
  int notify_once();

 private:
  App(const Config& config, const Clock& clock, Random& random);
  bool build(StartError& error);
  Result<void> build_logins();
  Result<void> build_webhooks();
  void build_services(const auth::MasterKey& key);
  void make_workers();
  void wake_worker(store::Signal signal);
  bool start_listeners(StartError& error, const AdminPages& admin);
  bool start_admin(StartError& error, const AdminPages& admin);
  bool admin_has_tls() const;
  std::int64_t settlement_step();
  std::int64_t housekeeping_step();
  std::int64_t probe_step();
  std::int64_t verify_step();

  const Config config_;
  const Clock& clock_;  // the machine's; flows have the queue's
  const Timestamp opened_at_ = clock_.now();
  Random& random_;
  Metrics metrics_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<store::CommitQueue> queue_;
  std::unique_ptr<auth::Sealer> sealer_;
  std::unique_ptr<auth::TokenIssuer> tokens_;
  std::unique_ptr<http::Client> client_;
  std::unique_ptr<outbound::Resolver> resolver_;
  std::unique_ptr<outbound::ConnectorRegistry> connectors_;
  std::unique_ptr<outbound::Notifier> notifier_;
  std::unique_ptr<flows::Logins> logins_;
  std::unique_ptr<flows::Webhooks> webhooks_;
  std::unique_ptr<flows::Figures> figures_;
  std::unique_ptr<flows::Context> context_;
  std::unique_ptr<api::Services> services_;
  std::unique_ptr<api::Pipeline> pipeline_;
  std::unique_ptr<WorkerThread> settlement_;
  std::unique_ptr<workers::ProviderLanes> providers_;
  std::unique_ptr<workers::WebhookDelivery> deliveries_;
  std::unique_ptr<workers::Notifications> notifications_;
  std::unique_ptr<WorkerThread> housekeeping_;
  std::unique_ptr<WorkerThread> backups_;  // none: no folder for them is set
  std::unique_ptr<WorkerThread> prober_;
  std::unique_ptr<WorkerThread> verifier_;
  store::Verification verification_;  // of the verifier's thread
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Server> admin_server_;  // none: shared, off, or its address was taken
  std::int64_t settled_ms_ = 0;  // monotonic, of the last settlement; its thread's own
  std::atomic<std::int64_t> settling_since_ms_{0};  // monotonic; 0: the last round ended
  std::atomic<bool> starting_{false};
  std::atomic<bool> draining_{false};
  std::atomic<bool> invariants_hold_{true};
  std::atomic<std::int64_t> verified_at_ms_{0};
  bool stopped_ = false;
};

}  // namespace coffer
