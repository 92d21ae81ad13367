// The sessions of operators, for the command line and the admin page.
#pragma once

#include "base/clock.h"
#include "cli/command_result.h"
#include "flows/identity/operator_sessions.h"

namespace coffer::cli {

/// What is shown of a session. It opens nothing.
Record session_record(const flows::ListedSession& listed, const Clock& clock);

}  // namespace coffer::cli
