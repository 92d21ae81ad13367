// Notifies the receiver of a successful payment (docs/contract.md#notifications).
//
// A row is written in the commit in which the payment succeeds, so a crash cannot lose it. An
// attempt is counted in a commit before it is made. A row with an unfinished attempt is retried
// later, at most kNotificationAttemptsMax times in total.
#pragma once

#include <optional>

#include "flows/context.h"
#include "store/payments/payments.h"
#include "store/write_tx.h"

namespace coffer::flows {

/// Call it in the command that moved the payment to `succeeded`. Does nothing if the submission
/// requested no notification. The recipient is the beneficiary, or the person in the details of the
/// receiving wallet.
void record_notification(const Context& context, store::WriteTx& tx,
                         const store::SettlementView& payment);

struct NotificationRound {
  int attempts = 0;                   // number of processed rows
  std::optional<Timestamp> next_due;  // of the rows that still wait
};
/// Sends due notifications, at most `limit`, one after another on this thread. Failures of a
/// channel are recorded in the rows and the log; a returned Problem comes from the store.
Result<NotificationRound> send_due_notifications(const Context& context, int limit);

}  // namespace coffer::flows
