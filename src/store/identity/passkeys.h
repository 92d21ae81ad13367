// Passkeys of operators (auth/passkeys/passkey.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/ids.h"
#include "store/commits/write_tx.h"

namespace coffer::store {

struct PasskeyRow {
  OperatorId operator_id;
  std::string credential;  // raw ID; unique
  std::string site;        // the host name for which it was created
  std::string public_key;  // COSE
  std::uint32_t sign_count = 0;
  std::string name;
  Timestamp created_at;
  std::optional<Timestamp> used_at;
};

/// In the order of creation.
std::vector<PasskeyRow> list_passkeys(Connection& db, OperatorId id);
std::optional<PasskeyRow> find_passkey(Connection& db, std::string_view credential);
/// The caller has checked that the credential is unused.
void insert_passkey(WriteTx& tx, const PasskeyRow& row);
void set_passkey_used(WriteTx& tx, std::string_view credential, std::uint32_t sign_count);
void delete_passkey(WriteTx& tx, std::string_view credential);
void delete_passkeys(WriteTx& tx, OperatorId id);

}  // namespace coffer::store
