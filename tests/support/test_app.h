// The whole of coffer on a separate file: a clock that stands still, seeded randomness, no worker
// threads unless `listen()` is called. Checks every invariant of the ledger at its end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/app.h"
#include "base/mutex.h"
#include "support/client.h"

namespace coffer::test {

class TestApp {
 public:
  /// `change` adjusts the configuration; by default, rate limits are off. Four assets exist: USDC
  /// and EURC (7 decimals), KES (2), JPY (0); and the association and sandbox application of `me`.
  explicit TestApp(const std::function<void(Config&)>& change = {});
  /// Checks the invariants. After a failed assertion, the file is kept and its path is printed.
  ~TestApp();
  TestApp(const TestApp&) = delete;
  TestApp& operator=(const TestApp&) = delete;

  ManualClock clock;  // starts at 2026-01-01T00:00:00Z
  SeededRandom random{1};

  App& core() { return *app_; }
  const flows::Context& flows() const { return app_->flows(); }

  /// The default application: sandbox, all scopes, of `association()`.
  const Client& me() const { return *me_; }
  AssociationId association() const { return association_; }
  Client anonymous() { return Client(*this); }

  // The operator's side ---------------------------------------------------------------------------

  AssociationId register_association(AssociationStatus status = AssociationStatus::active);
  void change_status(AssociationId id, AssociationStatus to);
  Credentials register_application(std::optional<AssociationId> association,
                                   Environment environment = Environment::sandbox,
                                   ScopeSet scopes = ScopeSet::all());
  /// A new application of a new association, with a token.
  Client stranger(Environment environment = Environment::sandbox);
  /// A production application of the default association.
  Client production();
  void rate(const char* sell, const char* buy, const char* rate);
  void liquidity(const char* asset, const char* amount);
  /// Credits a production wallet, for which there is no route.
  void issue(const std::string& wallet, const char* asset, const char* amount);

  // Like `me()`

  std::string wallet(const std::string& asset, const std::string& amount = {}) const {
    return me().wallet(asset, amount);
  }

  /// Settles everything that is due now; returns the number of payments.
  int settle();
  /// Delivers every event that is due now; returns the number of attempts. Not together with
  /// `listen()`.
  int deliver();
  /// Starts the listener on a free port, and the workers.
  void listen();
  /// Stops and opens the same file again, as after a crash or an upgrade. Clients stay valid.
  /// `change` adjusts the configuration.
  void restart(const std::function<void(Config&)>& change = {});
  /// The log lines since the start.
  std::string log() const;
  const Config& config() const { return config_; }

 private:
  void open();
  void check_invariants();

  Config config_;
  std::string folder_;
  int failed_before_;
  mutable Mutex log_mutex_;
  std::string log_ COFFER_GUARDED_BY(log_mutex_);
  std::unique_ptr<App> app_;
  AssociationId association_;
  std::unique_ptr<Client> me_;
};

}  // namespace coffer::test
