// coffer man and coffer settings: the manual pages and references for packages and documents.
#pragma once

#include <string>

namespace coffer::cli {

/// coffer(1).
std::string commands_page();

}  // namespace coffer::cli
