// All settings as an example file and as the reference in the documents. Both are generated from
// the table of options.
#pragma once

#include <string>

namespace coffer::cli {

/// A coffer.toml with every setting commented out at its default.
std::string settings_file();
/// docs/configuration.md.
std::string settings_reference();

}  // namespace coffer::cli
