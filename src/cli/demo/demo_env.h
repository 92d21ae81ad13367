// `coffer demo --env`: the address of the demo and the credentials of its application as
// environment variables in a file, for programs that call the API.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/demo/demo_text.h"

namespace coffer::cli {

/// The file if --env is given without a path, in the current folder.
inline constexpr std::string_view kDemoEnvFile = ".env";

/// The lines of the file. The names are those of the file that the admin page offers with new
/// credentials (web/admin/record.js): the prefix COFFER_ belongs to the settings of the server. The
/// first line marks the file as one that a demo may replace.
std::string demo_env_text(const Demo& demo, const DemoPlace& place);

/// Whether a demo may write `path`: it does not exist, or it is a regular file that a demo wrote
/// and its user has not changed the first line of. `conflict` for any other file, which stays
/// unchanged, and `malformed-request` for a file that coffer keeps beside `database`.
Result<void> check_demo_env(const std::string& path, const std::string& database);
/// Writes the file with mode 0600, after the same check.
Result<void> write_demo_env(const std::string& path, const Demo& demo, const DemoPlace& place);

}  // namespace coffer::cli
