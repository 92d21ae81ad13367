// One operator read or changed by name or id: what the flows on operators share.
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

/// Gets the row as it is when the command runs; what it leaves is stored.
using OperatorChange = std::function<Result<void>(store::WriteTx&, store::OperatorRow&)>;

/// Both give the row as it became; `not-found`, or what `change` refuses with.
Result<store::OperatorRow> change_operator_named(const Context& context, const std::string& name,
                                                 const OperatorChange& change);
Result<store::OperatorRow> change_operator(const Context& context, OperatorId id,
                                           const OperatorChange& change);

/// Ten of them, shown once; and their hashes in place of the present ones.
std::vector<Secret> new_recovery_codes(const Context& context);
void store_recovery_codes(const Context& context, store::WriteTx& tx, OperatorId id,
                          const std::vector<Secret>& codes);

/// What is stored of a password. `validation-failed` (password) when it is too weak for the
/// operator of this name. Slow on purpose.
Result<std::string> operator_password_hash(const Context& context, const Secret& password,
                                           std::string_view name);

}  // namespace coffer::flows
