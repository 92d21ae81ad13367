// What every flow works with. References only: `app` owns the parts and outlives every flow.
#pragma once

#include <string>

#include "auth/seal.h"
#include "auth/token.h"
#include "base/clock.h"
#include "base/random.h"
#include "outbound/providers/connector.h"
#include "store/commit_queue.h"
#include "store/database.h"

namespace coffer {
class Metrics;  // base/telemetry/metrics.h
}

namespace coffer::outbound {
class Notifier;
}

namespace coffer::flows {

class Figures;    // flows/operations/figures.h
struct Logins;    // flows/identity/login.h
struct Webhooks;  // flows/webhooks/webhooks.h

struct Context {
  store::Database& database;
  store::CommitQueue& queue;
  const Clock& clock;  // of the queue: the time of the records
  Random& random;
  const auth::Sealer& sealer;
  const auth::TokenIssuer& tokens;
  outbound::Connector& connectors;  // the registry: every driver behind one face
  std::string network_name;         // of the embedded ledger
  std::int64_t settle_delay_ms;     // before a payment is settled; 0 in normal operation
  std::int64_t token_lifetime_ms;
  const Logins* logins = nullptr;          // set wherever somebody may log in
  Webhooks* webhooks = nullptr;            // set wherever events are delivered
  outbound::Notifier* notifier = nullptr;  // without one, messages are only recorded
  Metrics* metrics = nullptr;              // what is counted; without one, nothing is
  Figures* figures = nullptr;              // of flows, in the same
};

}  // namespace coffer::flows
