// The passkeys of operators, for the command line and the admin page.
#pragma once

#include "cli/command_result.h"
#include "store/identity/passkeys.h"

namespace coffer::cli {

/// The data of a passkey that an operator may see.
Record passkey_record(const store::PasskeyRow& row);

}  // namespace coffer::cli
