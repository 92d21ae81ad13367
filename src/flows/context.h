// The objects that every flow uses, as references. `app` owns them, and they outlive every flow.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "auth/password.h"
#include "auth/seal.h"
#include "auth/secret_hash.h"
#include "auth/token.h"
#include "base/clock.h"
#include "base/random.h"
#include "outbound/providers/connector.h"
#include "store/commit_queue.h"
#include "store/database.h"

namespace coffer {
class GuessTable;  // base/limits/guess_table.h
class Metrics;     // base/telemetry/metrics.h
}  // namespace coffer

namespace coffer::outbound {
class Messenger;
}

namespace coffer::flows {

class Figures;    // flows/operations/figures.h
struct Logins;    // flows/identity/login.h
struct Webhooks;  // flows/webhooks/webhooks.h

/// How a command runs that stores nothing if it should only be validated.
constexpr store::CommitQueue::Mode commit_unless(bool validate_only) {
  return validate_only ? store::CommitQueue::Mode::dry_run : store::CommitQueue::Mode::commit;
}

struct Context {
  /// store::with_reader of the database.
  template <class F>
  auto read(F&& from) const {
    return store::with_reader(database, std::forward<F>(from));
  }
  /// Runs a command in the queue. It returns nothing, a value, or a Result of either.
  template <class F>
  auto write(F&& command, store::CommitQueue::Mode mode = store::CommitQueue::Mode::commit) const
      -> AsResult<std::invoke_result_t<F, store::WriteTx&>> {
    using Returned = std::invoke_result_t<F, store::WriteTx&>;
    if constexpr (std::is_void_v<Returned>) {
      const auto run = [&](store::WriteTx& tx) -> Result<void> {
        command(tx);
        return {};
      };
      return queue.run(run, mode);
    } else if constexpr (std::is_same_v<Returned, Result<void>>) {
      return queue.run(std::forward<F>(command), mode);
    } else {
      using Value = typename AsResult<Returned>::value_type;
      return store::run_for<Value>(queue, std::forward<F>(command), mode);
    }
  }

  store::Database& database;
  store::CommitQueue& queue;
  const Clock& clock;  // the commit queue's clock: the time of the records
  Random& random;
  const auth::Sealer& sealer;
  const auth::TokenIssuer& tokens;
  outbound::Connector& connectors;  // the registry of all drivers
  std::string network_name;         // of the embedded ledger
  std::int64_t settle_delay_ms;     // delay before settling a payment; 0 in normal operation
  std::int64_t token_lifetime_ms;
  const auth::SecretHasher* hasher = nullptr;  // required for credentials
  const Logins* logins = nullptr;              // required for logins
  Webhooks* webhooks = nullptr;                // required for deliveries
  outbound::Messenger* messenger = nullptr;    // nullptr: messages are only stored
  Metrics* metrics = nullptr;                  // nullptr: nothing is counted
  Figures* figures = nullptr;                  // cells of flows in `metrics`
  GuessTable* guesses = nullptr;               // set in processes that serve logins
  auth::ScryptCost password_cost = {};         // of new hashes
  // When this machine began to lead a replicated ledger: another one may still make the calls that
  // it opened before, until its lease and their time limit are over (flows/providers).
  std::optional<Timestamp> leads_since = {};
};

}  // namespace coffer::flows
