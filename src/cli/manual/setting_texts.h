// All settings as a manual page, an example file, and the reference in the documents. All three are
// generated from the table of options.
#pragma once

#include <string>

namespace coffer::cli {

/// coffer.toml(5).
std::string settings_page();
/// A coffer.toml with every setting commented out at its default.
std::string settings_file();
/// docs/configuration.md.
std::string settings_reference();

}  // namespace coffer::cli
