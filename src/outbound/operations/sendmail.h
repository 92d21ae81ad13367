// Runs a sendmail program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/call_deadlines.h"

namespace coffer::outbound {

/// Runs `command` without a shell, and without this process's environment, which may contain
/// secrets. It gets `input` on standard input. `output` becomes the beginning of what it writes to
/// standard output and standard error, also after a failure. When `call` is over, the program and
/// its children are killed. `provider-unavailable`: it did not start, did not exit in time, or its
/// exit status is not 0.
Result<void> run_sendmail(std::vector<std::string> command, std::string_view input,
                          const http::CallDeadlines::Call& call, std::string& output);

}  // namespace coffer::outbound
