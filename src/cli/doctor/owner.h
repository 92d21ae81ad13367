// Finds the process that has a database open, without disturbing it.
#pragma once

#include <optional>
#include <string>

#include "http/json_body.h"

namespace coffer::cli {

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
/// Maximum number of open files of `process`, where 0 is this process; nullopt if unknown.
std::optional<long> descriptor_limit(int process);

}  // namespace coffer::cli
