// Notifies the receiver of a successful payment (docs/contract.md#notifications). The row is
// written in the commit in which the payment succeeds, so a crash cannot lose it; messages.h sends
// it.
#pragma once

#include "flows/context.h"
#include "outbound/operations/messenger.h"
#include "store/commits/write_tx.h"
#include "store/operations/messages.h"
#include "store/payments/payments.h"

namespace coffer::flows {

/// Call it in the command that moved the payment to `succeeded`. Does nothing if the submission
/// requested no notification. The recipient is the beneficiary, or the person in the details of the
/// receiving wallet.
void record_notification(const Context& context, store::WriteTx& tx,
                         const store::SettlementView& payment);

/// The message in the form of its channel. Checks the payment.
outbound::OutgoingMessage notification_message(store::Connection& db,
                                               const store::Notification& notification);

}  // namespace coffer::flows
