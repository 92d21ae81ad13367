// coffer doctor: checks of the machine.
#pragma once

#include <string>

#include "base/clock.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/owner.h"
#include "config/config.h"
#include "outbound/resolver.h"

namespace coffer::cli {

/// `not_before` is a time in the past. {0}: unknown.
Findings examine_clock(Timestamp now, Timestamp not_before, std::optional<bool> synchronised);
/// Judges the body of a /healthz response with status 200.
Finding judge_health(const std::string& check, const std::string& address, const std::string& body);
/// Resolves every host in the settings, and `probe` as an example of other names.
Findings examine_names(const Config& config, outbound::Resolver& resolver, const std::string& probe,
                       int timeout_ms);
Findings examine_trusted_roots(const Config& config);
/// The open-file limit of the running server, or of one that is started with this user's limits.
Findings examine_descriptors(const Config& config, const Owner& owner);
/// The user of this process, and the credentials that systemd provides.
Findings examine_supervision(const Config& config);
/// The addresses of the API and the admin page: free, or in use by the running server, which
/// reports them in `overview`.
Findings examine_listeners(const Config& config, const Owner& owner,
                           const std::optional<http::JsonValue>& overview, int timeout_ms);

}  // namespace coffer::cli
