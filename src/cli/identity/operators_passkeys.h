// The passkeys of operators, for the command line and the admin page.
#pragma once

#include "cli/command_result.h"
#include "store/identity/passkeys.h"

namespace coffer::cli {

/// What is shown of a passkey.
Record passkey_record(const store::PasskeyRow& row);

}  // namespace coffer::cli
