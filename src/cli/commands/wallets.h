// coffer wallet: the review of third parties' wallets, and funding in the sandbox.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> wallet_commands();

}  // namespace coffer::cli
