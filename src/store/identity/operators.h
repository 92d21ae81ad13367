// Operators: the users of the admin page, and the one-time links for signing in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/identity/operators.h"
#include "domain/ids.h"
#include "store/commits/write_tx.h"

namespace coffer::store {

struct OperatorRow {
  OperatorId id;
  std::string name;  // lower case, unique
  OperatorRole role = OperatorRole::viewer;
  std::optional<std::string> password_hash;  // auth/password.h; empty until a link was used
  std::optional<std::string> sealed_otp;     // the sealed TOTP key; empty until one was enrolled
  std::int64_t otp_step = 0;                 // step of the last accepted code
  bool otp_required = true;
  bool suspended = false;
  std::int64_t version = 1;            // a change ends the sessions of older versions
  int passkeys = 0;                    // their number; read only
  std::optional<std::string> subject;  // of the identity provider; read only
  bool token = false;                  // a program, which cannot sign in; read only
  Timestamp created_at;
  Timestamp updated_at;
};

/// In the order of creation.
std::vector<OperatorRow> list_operators(Connection& db);
std::optional<OperatorRow> find_operator(Connection& db, OperatorId id);
std::optional<OperatorRow> find_operator_by_name(Connection& db, std::string_view name);
bool has_operators(Connection& db);
/// Number of operators who can sign in as administrator. The last one must not be removed.
std::int64_t count_administrators(Connection& db);
/// The caller has checked that the name is unused.
void insert_operator(WriteTx& tx, const OperatorRow& row);
/// Replaces everything except ID, name and passkeys.
void update_operator(WriteTx& tx, const OperatorRow& row);

/// The account of an identity provider with which an operator may sign in.
std::optional<OperatorRow> find_operator_by_subject(Connection& db, std::string_view issuer,
                                                    std::string_view subject);
/// The caller has checked that no other operator has it.
void set_operator_subject(WriteTx& tx, OperatorId id, std::string_view issuer,
                          std::string_view subject);
void delete_operator_subject(WriteTx& tx, OperatorId id);

/// Recovery codes, as the SHA-256 of their characters.
void insert_recovery_code(WriteTx& tx, OperatorId id, std::string_view hash);
/// Returns false if the operator does not have this code.
bool delete_recovery_code(WriteTx& tx, OperatorId id, std::string_view hash);
void delete_recovery_codes(WriteTx& tx, OperatorId id);
int count_recovery_codes(Connection& db, OperatorId id);

/// The token of an operator's program.
struct OperatorTokenRow {
  std::string hash;                         // of its secret
  std::string commands;                     // separated by commas
  std::string networks;                     // separated by commas; empty: any
  std::optional<OperatorId> created_by;     // empty: the command line of the server
  std::optional<std::string> created_name;  // read only
  Timestamp expires_at;
  std::optional<Timestamp> used_at;  // about the time of the last use; read only
  std::optional<std::string> used_from;
  OperatorId program;  // the operator that the token stands for
};

/// In the order of creation.
std::vector<OperatorTokenRow> list_operator_tokens(Connection& db);
std::optional<OperatorTokenRow> find_operator_token(Connection& db, std::string_view hash);
std::optional<OperatorTokenRow> find_operator_token_of(Connection& db, OperatorId program);
/// `row.program` is an operator without a token.
void insert_operator_token(WriteTx& tx, const OperatorTokenRow& row);
/// Ends a token that has not expired.
void end_operator_token(WriteTx& tx, OperatorId program);
void note_operator_token_use(WriteTx& tx, OperatorId program, const std::string& address);

struct OperatorLink {
  std::optional<OperatorId> for_whom;  // empty: the link creates a new administrator
  Timestamp expires_at;
};

/// `hash` is the SHA-256 of the link's secret. Also deletes expired links.
void insert_operator_link(WriteTx& tx, std::string_view hash, const OperatorLink& link);
std::optional<OperatorLink> find_operator_link(Connection& db, std::string_view hash);
void delete_operator_link(WriteTx& tx, std::string_view hash);
/// Deletes all links of one operator; if empty, all links that create an administrator.
void delete_operator_links(WriteTx& tx, std::optional<OperatorId> for_whom);

}  // namespace coffer::store
