// Writes the audit log: an entry before a command runs, and its result afterwards. So every command
// is recorded, even if the process stops in between.
#pragma once

#include <cstdint>
#include <string>

#include "domain/identity/operators.h"
#include "flows/context.h"
#include "flows/identity/sign_in_guard.h"

namespace coffer::flows {

/// An action that is recorded together with its outcome, in the commit of its changes.
struct AuditAction {
  std::string actor;
  std::string command;
  std::string detail;  // JSON on one line
  std::string outcome = "done";
  std::string result = {};
};
void append_audit_action(store::WriteTx& tx, const AuditAction& action);
/// Records the action in a separate commit.
Result<void> record_action(const Context& context, const AuditAction& action);
/// `{"address":"192.0.2.7"}`.
std::string source_json(const SignInSource& source);

/// `arguments` is JSON on one line, without secrets. Returns the key of the entry. If the entry
/// cannot be written (`storage-full`, `overloaded`), the caller must not run the command.
Result<std::int64_t> record_audit_entry(const Context& context, const Actor& actor,
                                        const std::string& command, const std::string& arguments);
/// `outcome` is `done` or the name of a problem; `result` contains details without secrets.
Result<void> record_outcome(const Context& context, std::int64_t entry, const Actor& actor,
                            const std::string& command, const std::string& outcome,
                            const std::string& result);

}  // namespace coffer::flows
