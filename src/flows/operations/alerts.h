// Alerts: which of them begin and end, as rows, and the messages about them. Workers call both and
// decide nothing.
#pragma once

#include <vector>

#include "domain/operations/alert.h"
#include "flows/context.h"
#include "outbound/operations/alert_sender.h"

namespace coffer::flows {

/// Begins, repeats and ends alerts by the present figures. One commit if something changes,
/// otherwise none.
Result<void> record_alerts(const Context& context, const outbound::AlertSender& sender,
                           const ConditionFacts& facts);

/// Sends the message that is due for longest. A message that fails is due again later; after
/// kAlertAttemptsMax attempts it has failed. An attempt is counted in a commit before it is made,
/// so a crash repeats a message at most. Returns whether there was one.
Result<bool> send_due_alert(const Context& context, outbound::AlertSender& sender);

struct AlertTest {
  outbound::AlertTarget target;
  outbound::AlertResult result;
};
/// Sends a test message to each target now, and stores nothing. `conflict` without a target.
Result<std::vector<AlertTest>> test_alerts(const Context& context, outbound::AlertSender& sender);

}  // namespace coffer::flows
