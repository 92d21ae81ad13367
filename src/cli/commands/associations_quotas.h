// coffer association quotas, set-quota.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> association_quota_commands();

}  // namespace coffer::cli
