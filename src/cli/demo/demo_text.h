// What the demo tells its user: the text that it prints when it starts, and the file of `--env`,
// with the address and the credentials as environment variables for programs that call the API.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/demo/demo_secrets.h"
#include "cli/demo/demo_seed.h"

namespace coffer::cli {

struct Demo {
  DemoWorld world;
  DemoSecrets secrets;
};

struct DemoPlace {
  std::string origin;       // http://127.0.0.1:8080
  std::string database;     // path
  std::string certificate;  // path; empty: plain HTTP
  std::string admin;        // http://127.0.0.1:8080/admin/; empty: no admin page
  std::string env = {};     // path of the file with variables; empty: none
};

/// `transaction` is the transactionId in the printed payment. It must differ at each start;
/// otherwise the payment would be a replay of an earlier one.
std::string demo_start_text(const Demo& demo, const DemoPlace& place,
                            const std::string& transaction);

/// `text` with every `@name@` replaced. A name that is not in `values` is a bug.
std::string filled(std::string_view text, const std::map<std::string_view, std::string>& values);

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
