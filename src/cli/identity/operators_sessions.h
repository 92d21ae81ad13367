// The sessions of operators, for the command line and the admin page.
#pragma once

#include "base/clock.h"
#include "cli/command_result.h"
#include "flows/identity/operator_sessions.h"

namespace coffer::cli {

/// The data of a session that an operator may see. It grants no access.
Record session_record(const flows::ListedSession& listed, const Clock& clock);

}  // namespace coffer::cli
