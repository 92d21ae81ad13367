// Helpers that all flows on operators share: reading and changing one operator by name or ID.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "flows/context.h"
#include "store/identity/operators.h"

namespace coffer::flows {

Problem unknown_operator();

/// By the name as typed; nullopt if not found.
Result<std::optional<store::OperatorRow>> find_operator_named(const Context& context,
                                                              const std::string& name);

/// Receives the current row inside the command. The row is stored as the function leaves it.
using OperatorChange = std::function<Result<void>(store::WriteTx&, store::OperatorRow&)>;

/// Both return the changed row. `not-found`, or the Problem of `change`.
Result<store::OperatorRow> change_operator_named(const Context& context, const std::string& name,
                                                 const OperatorChange& change);
Result<store::OperatorRow> change_operator(const Context& context, OperatorId id,
                                           const OperatorChange& change);

/// `conflict` if the name is taken. Returns the row as stored.
Result<store::OperatorRow> insert_new_operator(store::WriteTx& tx, const store::OperatorRow& row);
/// `conflict` if the operator is a program with a token, which cannot sign in.
Result<void> require_person(const store::OperatorRow& row);

/// Creates ten recovery codes, which are shown once. store_recovery_codes() replaces the stored
/// hashes with theirs.
std::vector<Secret> new_recovery_codes(const Context& context);
void store_recovery_codes(const Context& context, store::WriteTx& tx, OperatorId id,
                          const std::vector<Secret>& codes);

/// The hash that is stored for a password. `validation-failed` (password) if it is too weak for the
/// operator with this name. Deliberately slow.
Result<std::string> operator_password_hash(const Context& context, const Secret& password,
                                           std::string_view name);

}  // namespace coffer::flows
