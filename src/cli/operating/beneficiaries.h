// coffer beneficiary and coffer quote: whom associations pay, and what they were offered.
#pragma once

#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> beneficiary_commands();
std::vector<Command> quote_commands();

}  // namespace coffer::cli
