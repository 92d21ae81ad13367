// coffer association: create, list, activate, suspend, quotas, set-quota.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> association_commands();

}  // namespace coffer::cli
