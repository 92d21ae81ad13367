// Begins and ends alerts, as rows, and sends messages about them. Workers only call these
// functions.
#pragma once

#include <vector>

#include "flows/context.h"
#include "outbound/operations/alert_sender.h"

namespace coffer::flows {

/// Begins, repeats and ends alerts according to the current figures. Commits only if something
/// changes.
Result<void> record_alerts(const Context& context, const outbound::AlertSender& sender,
                           const ConditionFacts& facts);

/// Sends the message that has been due longest. After a failed attempt, the message is due again
/// later; after kAlertAttemptsMax attempts, it has failed. An attempt is counted in a commit before
/// it is made, so a crash can at most repeat a message. Returns whether a message was due.
Result<bool> send_due_alert(const Context& context, outbound::AlertSender& sender);

struct AlertTest {
  outbound::AlertTarget target;
  outbound::AlertResult result;
};
/// Sends a test message to each target now, and stores nothing. `conflict` without a target.
Result<std::vector<AlertTest>> test_alerts(const Context& context, outbound::AlertSender& sender);

}  // namespace coffer::flows
