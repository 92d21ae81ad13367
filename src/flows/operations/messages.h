// Sends the messages that wait in the file: about alerts, and to recipients of payments.
#pragma once

#include "flows/context.h"

namespace coffer::flows {

/// Sends the message that has been due longest, those about alerts first. After a failed attempt,
/// the message is due again later; after kMessageAttemptsMax attempts, it has failed. An attempt is
/// counted in a commit before it is made, so a crash can at most repeat a message. Failures of a
/// channel are recorded in the row and the log; a returned Problem comes from the store. Returns
/// whether a message was due.
Result<bool> send_due_message(const Context& context);

}  // namespace coffer::flows
