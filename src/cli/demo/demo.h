// coffer demo: creates and serves a sandbox that is ready to use.
#pragma once

#include <optional>
#include <string>

namespace coffer::cli {

/// The default path of the demo's database; nullopt if the environment contains no home directory.
std::optional<std::string> demo_database();

}  // namespace coffer::cli
