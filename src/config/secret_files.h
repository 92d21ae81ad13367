// The files with secrets that the settings name.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/config.h"

namespace coffer {

/// The paths of the files, each with the name of its setting. They may not exist.
std::vector<std::pair<std::string, std::string>> secret_files(const Config& config);

}  // namespace coffer
