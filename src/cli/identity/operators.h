// The passkeys and sessions of operators, for the command line and the admin page.
#pragma once

#include "base/clock.h"
#include "cli/command_result.h"
#include "flows/identity/operator_sessions.h"
#include "store/identity/passkeys.h"

namespace coffer::cli {

/// The data of a passkey that an operator may see.
Record passkey_record(const store::PasskeyRow& row);
/// The data of a session that an operator may see. It grants no access.
Record session_record(const flows::ListedSession& listed, const Clock& clock);

}  // namespace coffer::cli
