// coffer demo: a sandbox that is ready to be called, served and explained.
#pragma once

#include <optional>
#include <string>

#include "cli/command.h"

namespace coffer::cli {

/// Where the demo keeps its data unless told otherwise; nullopt when the environment names no home.
std::optional<std::string> demo_database();

}  // namespace coffer::cli
