// The checks of coffer doctor. They change and lock nothing. What a start checks too, they ask of
// the functions that the start uses.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "config/config.h"
#include "domain/tables/terms.h"
#include "http/client.h"
#include "http/json_body.h"
#include "outbound/wire/resolver.h"
#include "outbound/wire/url.h"

namespace coffer::cli {

/// `warning`: it works now, but may fail later or is less safe than possible. `failed`: it does not
/// work.
enum class Grade { ok, warning, failed };

struct Finding {
  std::string check;
  Grade grade = Grade::ok;
  std::string found;
  std::string remedy = {};  // one sentence; empty if there is nothing to do
};
using Findings = std::vector<Finding>;

inline Finding good(std::string check, std::string found) {
  return {std::move(check), Grade::ok, std::move(found)};
}
inline Finding warning(std::string check, std::string found, std::string remedy) {
  return {std::move(check), Grade::warning, std::move(found), std::move(remedy)};
}
inline Finding failed(std::string check, std::string found, std::string remedy) {
  return {std::move(check), Grade::failed, std::move(found), std::move(remedy)};
}
/// The reason why a start fails, which says what to do.
Finding fails_start(std::string check, std::string reason);

/// The process that has a database open.
struct Owner {
  bool told = true;          // false: this user lacks the permission to check
  bool locked = false;       // by a server or, briefly, by a command
  int process = 0;           // 0: unknown
  bool commanded = false;    // accepts commands on its control socket, so it is a server
  std::string command = {};  // that the process runs; empty: it is a server, or unknown
};
/// Checks the lock and the control socket next to `database`; creates neither.
Owner find_owner(const std::string& database);
/// What the server that has `database` open reports (coffer overview); nullopt without a
/// server, or without a response within `timeout_ms`.
std::optional<http::JsonValue> server_overview(const std::string& database, int timeout_ms);

struct HealthTarget {
  std::string text;  // as shown
  outbound::Url url;
  std::string address = {};    // numeric; empty: that of the URL's host
  std::string ca_bundle = {};  // for https
};

/// `/healthz` of a listener on this machine; `tls_cert` is its certificate file, empty for plain
/// HTTP. Its own certificate is trusted, under a name that it has, because that is seldom the name
/// of the loopback address.
HealthTarget health_target(const HostPort& listener, const std::string& tls_cert);
/// `timeout_ms`: for the whole call. A Problem: there was no response.
Result<http::ClientResponse> ask_health(const HealthTarget& target, int timeout_ms);

/// Whether a server could start with this file and its master key (check_open), unless a process
/// has the file open; and the permissions of the file and its companions.
Findings examine_database(const Config& config, const Owner& owner);
/// Files in the settings: secrets that other users can read, the expiry of the certificate, the
/// log.
Findings examine_named_files(const Config& config, Timestamp now);
/// Free space for the database and the backups.
Findings examine_disks(const Config& config);
/// The running server: its health, its user, and the conditions that it reports in `overview`,
/// because its settings may differ from `config`. Without one, whether a server could listen.
Findings examine_server(const Config& config, const Owner& owner,
                        const std::optional<http::JsonValue>& overview, int timeout_ms);
/// Resolves every host in the settings, and `probe` as an example of other names.
Findings examine_names(const Config& config, outbound::Resolver& resolver, const std::string& probe,
                       int timeout_ms);
Finding examine_trusted_roots(const Config& config);

}  // namespace coffer::cli

template <>
struct coffer::Terms<coffer::cli::Grade> {
  static constexpr auto rows = std::to_array<Term>({{"ok"}, {"warning"}, {"failed"}});
};
