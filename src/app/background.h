// The threads that work besides the requests, and what they know about the state of the server.
#pragma once

#include "api/pipeline/services.h"
#include "app/archiving.h"
#include "app/leadership.h"
#include "config/config.h"
#include "flows/operations/checkpoint_rounds.h"
#include "outbound/providers/connector_registry.h"
#include "store/operations/backlog.h"
#include "store/operations/verification.h"
#include "workers/messages.h"
#include "workers/provider_lanes.h"
#include "workers/webhooks.h"

namespace coffer {

class Background {
 public:
  /// All arguments must outlive this object. `clock`: of the machine.
  Background(const Config& config, const Clock& clock, api::Services& services,
             const outbound::ConnectorRegistry& connectors, http::Client& client,
             outbound::Resolver& resolver, Archiving& archiving);

  /// From `announce` to `start`, and from `drain` on, /healthz reports that the server does not
  /// serve. After `drain`, long work ends early.
  void announce() { starting_ = true; }
  void start();
  void drain() {
    draining_ = true;
    archiving_.end_work();
  }
  /// Call it once, after `drain`. Does nothing without `start`.
  void stop();
  /// Call it after a commit with work. Thread-safe.
  void wake(store::Signal signal);

  Archiving& archiving() const { return archiving_; }
  /// The result for /healthz. Thread-safe, like the following functions.
  api::Health health() const;
  /// The figures that determine which conditions hold.
  ConditionFacts condition_facts(store::Connection& db, const store::Backlog& backlog) const;
  /// The result of a verification that an operator ran on the served file, for /healthz and the
  /// conditions, beside that of the background verification.
  void note_verification(bool holds);
  /// Result and time of the last verification of the ledger; 1970 before the first.
  bool invariants_hold() const { return invariants_hold_; }
  Timestamp verified_at() const { return {verified_at_ms_}; }

  /// Runs the due work of settlement and the provider lanes; for tests with a manual clock.
  int settle_once();
  /// Makes all due deliveries and returns the number of attempts; for tests with a manual clock.
  int deliver_once() { return deliveries_.run_due(); }
  /// Checks the conditions for alerts, sends all due messages and returns their number; for tests
  /// with a manual clock.
  int send_messages_once() { return messages_.run_due(); }
  /// Stores the last uses of API keys, which are collected in memory. Called once a minute and at
  /// the stop.
  void store_secret_uses();

 private:
  std::int64_t settlement_step();
  std::int64_t housekeeping_step();
  std::int64_t probe_step();
  std::int64_t verify_step();
  void judge_balances();

  const Config& config_;
  const Clock& clock_;
  api::Services& services_;
  const flows::Context& context_;
  const outbound::ConnectorRegistry& connectors_;
  std::uint64_t foreign_changes_ = store::foreign_changes();  // for the thread of housekeeping
  store::Verification verification_;                          // for the verifier's thread
  std::int64_t uses_stored_ms_ = 0;                 // monotonic; for the housekeeping thread
  std::atomic<std::int64_t> settling_since_ms_{0};  // monotonic; 0: no round is running
  std::atomic<bool> starting_{false};
  std::atomic<bool> draining_{false};
  std::atomic<bool> invariants_hold_{true};
  std::atomic<bool> operator_found_faults_{false};
  std::atomic<std::int64_t> verified_at_ms_{0};
  bool started_ = false;
  workers::ProviderLanes providers_;
  workers::WebhookDelivery deliveries_;
  workers::Messages messages_;
  Archiving& archiving_;
  flows::CheckpointRounds checkpoints_;
  WorkerThread settlement_{"settlement", [this] { return settlement_step(); }};
  WorkerThread housekeeping_{"housekeeping", [this] { return housekeeping_step(); }};
  mutable WorkerThread prober_{"prober", [this] { return probe_step(); }};  // health() wakes it
  WorkerThread verifier_{"verifier", [this] { return verify_step(); }};
  // Makes checkpoints only after a successful verification since the start.
  WorkerThread head_signer_{"checkpoints", [this] {
                              if (!draining_ && invariants_hold_ && verified_at_ms_ != 0) {
                                checkpoints_.run([this] { return draining_.load(); });
                              }
                              return flows::CheckpointRounds::kRestMs;
                            }};
  std::optional<WorkerThread> backups_;   // nullopt without a backup folder
  std::optional<Leadership> leadership_;  // nullopt without replication
};

}  // namespace coffer
