// coffer doctor: what the machine around a coffer file gives it.
#pragma once

#include <string>

#include "base/clock.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/owner.h"
#include "config/config.h"
#include "outbound/resolver.h"

namespace coffer::cli {

/// `not_before`: something that has happened. {0}: nothing is known.
Findings examine_clock(Timestamp now, Timestamp not_before, std::optional<bool> synchronised);
/// Every host that the settings name, and `probe`, which stands for all others.
Findings examine_names(const Config& config, outbound::Resolver& resolver, const std::string& probe,
                       int timeout_ms);
Findings examine_trusted_roots(const Config& config);
/// Of the server that runs, or that would be started from here.
Findings examine_descriptors(const Config& config, const Owner& owner);
/// The user this runs as, and what systemd hands over.
Findings examine_supervision(const Config& config);
/// The addresses of the API and of the admin page: free, or answered by the server that runs.
Findings examine_listeners(const Config& config, const Owner& owner, int timeout_ms);

}  // namespace coffer::cli
