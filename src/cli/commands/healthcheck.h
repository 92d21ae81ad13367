// coffer healthcheck: asks a running server how it is, for supervisors and containers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace coffer::cli {

std::vector<Command> healthcheck_commands();

/// An http or https address, taken apart.
struct HealthUrl {
  bool tls = false;
  std::string host;  // an IPv6 address without its brackets
  int port = 0;
  std::string target;  // path and query
};
/// nullopt for what is none: another scheme, user names, spaces, a port that is no port.
std::optional<HealthUrl> parse_health_url(std::string_view text);

}  // namespace coffer::cli
