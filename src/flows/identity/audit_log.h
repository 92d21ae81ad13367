// The two halves of the audit log: a command is recorded before it runs, and its result afterwards.
// So every command is recorded, even if the process stops in between.
#pragma once

#include <cstdint>
#include <string>

#include "domain/identity/operators.h"
#include "flows/context.h"

namespace coffer::flows {

/// `arguments` is JSON on one line, without secrets. Returns the act's key. When this cannot be
/// written (`storage-full`, `overloaded`), the act must not be carried out.
Result<std::int64_t> record_audit_entry(const Context& context, const Actor& actor,
                                        const std::string& command, const std::string& arguments);
/// `outcome` is `done` or the name of a problem; `answer` what was said, without secrets.
Result<void> record_outcome(const Context& context, std::int64_t entry, const Actor& actor,
                            const std::string& command, const std::string& outcome,
                            const std::string& result);

}  // namespace coffer::flows
