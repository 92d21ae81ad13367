// What the leader of a replicated ledger does besides leading it: it drops what the log no longer
// needs, and asks the other machines for their state.
#pragma once

#include <atomic>

#include "base/telemetry/worker_thread.h"
#include "config/config.h"
#include "domain/operations/condition.h"
#include "flows/context.h"
#include "http/client.h"
#include "outbound/wire/resolver.h"

namespace coffer {

class Leadership {
 public:
  /// All must outlive this object. The database has a leader.
  Leadership(const Config& config, const flows::Context& context, http::Client& client,
             outbound::Resolver& resolver)
      : config_(config), context_(context), client_(client), resolver_(resolver) {}

  void start();
  void stop();
  /// Sets what is known of the log and of the followers. Thread-safe.
  void add_facts(ConditionFacts& facts) const;

 private:
  std::int64_t truncate();
  std::int64_t ask();

  const Config& config_;
  const flows::Context& context_;
  http::Client& client_;
  outbound::Resolver& resolver_;
  std::atomic<int> missing_{0};
  std::atomic<int> lagging_{0};
  WorkerThread truncation_{"truncation", [this] { return truncate(); }};
  WorkerThread replicas_{"replicas", [this] { return ask(); }};
};

}  // namespace coffer
