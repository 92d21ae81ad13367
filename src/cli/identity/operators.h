// The passkeys, sessions and tokens of operators, for the command line and the admin page.
#pragma once

#include "base/clock.h"
#include "cli/command.h"
#include "flows/identity/operator_sessions.h"
#include "store/identity/passkeys.h"

namespace coffer::cli {

/// The data of a passkey that an operator may see.
Record passkey_record(const store::PasskeyRow& row);
/// The data of a session that an operator may see. It grants no access.
Record session_record(const flows::ListedSession& listed, const Clock& clock);

/// Whether a token with this list of commands permits the command. A list that is empty or names a
/// group permits only what neither moves money nor changes access; the rest must be named.
bool permits_command(std::string_view list, const Command& command);

}  // namespace coffer::cli
