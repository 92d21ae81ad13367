// Every setting, for people: the manual page of the file, a file to start from, and the reference
// of the documents. All three are made from the table of options.
#pragma once

#include <string>

namespace coffer::cli {

/// coffer.toml(5).
std::string settings_page();
/// A coffer.toml that changes nothing: every setting with its default, commented out.
std::string settings_file();
/// docs/configuration.md.
std::string settings_reference();

}  // namespace coffer::cli
