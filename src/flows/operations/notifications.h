// Telling the receiver of a payment that it arrived (docs/contract.md#notifications).
//
// A row is written in the commit that makes the payment succeed, so that no crash forgets it. An
// attempt is counted in a commit before it is made: a row with an unfinished attempt is tried
// again later, and never more than kNotificationAttemptsMax times.
#pragma once

#include <cstdint>
#include <optional>

#include "flows/context.h"
#include "store/payments/payments.h"
#include "store/write_tx.h"

namespace coffer::flows {

/// In the command that has just moved the payment to `succeeded`; does nothing when its submission
/// asked for no message. The recipient is the beneficiary, or who the details of the receiving
/// wallet name.
void record_notification(const Context& context, store::WriteTx& tx,
                         const store::SettlementView& payment);

struct NotificationRound {
  int attempts = 0;                   // rows that were looked after
  std::optional<Timestamp> next_due;  // of what still waits
};
/// Sends what is due, at most `limit`, one after the other on this thread. What the channel did
/// wrong is in the rows and in the log; a Problem is what the store says.
Result<NotificationRound> send_due_notifications(const Context& context, int limit);

}  // namespace coffer::flows
