// Begins and ends alerts, as rows, with messages about them (messages.h).
#pragma once

#include <string>
#include <vector>

#include "flows/context.h"
#include "outbound/operations/messenger.h"
#include "store/operations/alerts.h"
#include "store/operations/messages.h"

namespace coffer::flows {

/// Begins, repeats and ends alerts according to the current figures. Commits only if something
/// changes.
Result<void> record_alerts(const Context& context, const ConditionFacts& facts);

/// Why the condition held at the last message about it; empty if the condition says it.
std::string alert_reason(store::Connection& db, AlertCondition condition);
/// The message in the form of its channel. Depends only on the rows and the address of the server,
/// so that attempts send the same bytes. `reason`: alert_reason().
outbound::OutgoingMessage alert_message(const store::Message& message, const store::AlertRow& alert,
                                        const std::string& reason, const std::string& server);

struct AlertTest {
  outbound::AlertTarget target;
  outbound::SendResult result;
};
/// Sends a test message to each target now, and stores nothing. `conflict` without a target.
Result<std::vector<AlertTest>> test_alerts(const Context& context);

}  // namespace coffer::flows
