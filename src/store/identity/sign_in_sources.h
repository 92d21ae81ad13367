// Where people have signed in from: the limits of an account do not bind these sources
// (docs/contract.md#guessing).
#pragma once

#include <string_view>

#include "base/uuid.h"
#include "store/write_tx.h"

namespace coffer::store {

/// `person` is the id of an operator or a user; `network` bytes that name a source.
bool has_signed_in_from(Connection& db, const Uuid& person, std::string_view network);
/// Keeps the latest eight of a person.
void remember_sign_in_source(WriteTx& tx, const Uuid& person, std::string_view network);
/// After a reset: the account may have been in other hands.
void forget_sign_in_sources(WriteTx& tx, const Uuid& person);

}  // namespace coffer::store
