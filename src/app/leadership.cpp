#include "app/leadership.h"

#include "base/telemetry/log.h"
#include "outbound/operations/replicas.h"
#include "store/replication/file_position.h"
#include "store/replication/leader.h"

namespace coffer {

void Leadership::start() {
  truncation_.start();
  if (!config_.replicas.empty()) replicas_.start();
}

void Leadership::stop() {
  truncation_.stop();
  replicas_.stop();
}

void Leadership::add_facts(ConditionFacts& facts) const {
  facts.replicas_missing = missing_;
  facts.replicas_lagging = lagging_;
  facts.log_is_slow = context_.database.leader()->was_slow();
}

/// Each machine of the ledger had the time of `replicate_keep_h` to read what is dropped.
std::int64_t Leadership::truncate() {
  const store::Leader& leader = *context_.database.leader();
  const std::int64_t end = leader.position().seq;
  const auto unneeded = context_.write([&](store::WriteTx& tx) {
    return store::remember_end(tx.db(), end, tx.now(), config_.replicate_keep_h * kHourMs);
  });
  const auto cut = unneeded && *unneeded > 0 ? leader.truncate(*unneeded) : Result<void>();
  if (!cut) {
    log_warning("replication", "the log was not truncated", {{"problem", cut.error().detail}});
  }
  return kMinuteMs;
}

std::int64_t Leadership::ask() {
  constexpr std::int64_t kAskEveryMs = 5'000;
  const auto states = outbound::ask_replicas(config_.replicas, client_, resolver_);
  missing_ = states.missing;
  lagging_ = states.lagging;
  return kAskEveryMs;
}

}  // namespace coffer
