// Networks from which people have signed in. The attempt limits of an account do not apply to them
// (docs/contract.md#guessing).
#pragma once

#include <string_view>

#include "base/uuid.h"
#include "store/commits/write_tx.h"

namespace coffer::store {

/// `person` is the ID of an operator or a user; `network` is the bytes that identify a source.
bool has_signed_in_from(Connection& db, const Uuid& person, std::string_view network);
/// Keeps the latest eight sources of a person.
void remember_sign_in_source(WriteTx& tx, const Uuid& person, std::string_view network);
/// Call this after a reset of credentials, because another person may have used the account.
void forget_sign_in_sources(WriteTx& tx, const Uuid& person);

}  // namespace coffer::store
