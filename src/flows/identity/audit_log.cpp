#include "flows/identity/audit_log.h"

#include "store/identity/audit_log.h"

namespace coffer::flows {
namespace {

Result<std::int64_t> append(const Context& context, const store::NewAuditEntry& entry) {
  return context.write([&](store::WriteTx& tx) { return store::append_audit_entry(tx, entry); },
                       store::CommitQueue::Mode::beyond_floor);
}

}  // namespace

void append_audit_action(store::WriteTx& tx, const AuditAction& action) {
  const std::int64_t entry =
      store::append_audit_entry(tx, {action.actor, action.command, action.detail, std::nullopt});
  store::append_audit_entry(tx,
                            {action.actor, action.command, action.result, entry, action.outcome});
}

Result<void> record_action(const Context& context, const AuditAction& action) {
  return context.write([&](store::WriteTx& tx) { append_audit_action(tx, action); });
}

std::string source_json(const SignInSource& source) {
  // The address is numeric, so it needs no escaping.
  return "{\"address\":\"" + source.address + "\"}";
}

Result<std::int64_t> record_audit_entry(const Context& context, const Actor& actor,
                                        const std::string& command, const std::string& arguments) {
  return append(context, {actor.name, command, arguments, std::nullopt});
}

Result<void> record_outcome(const Context& context, std::int64_t entry, const Actor& actor,
                            const std::string& command, const std::string& outcome,
                            const std::string& result) {
  COFFER_TRY_VOID(append(context, {actor.name, command, result, entry, outcome}));
  return {};
}

}  // namespace coffer::flows
