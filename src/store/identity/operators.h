// The people who sign in to the admin page, and the one-time links that let them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/identity/operators.h"
#include "domain/ids.h"
#include "store/write_tx.h"

namespace coffer::store {

struct OperatorRow {
  OperatorId id;
  std::string name;  // lower case, unique
  OperatorRole role = OperatorRole::viewer;
  std::optional<std::string> password_hash;  // auth/password.h; none until a link was used
  std::optional<std::string> sealed_otp;     // of the raw TOTP key; none until one was enrolled
  std::int64_t otp_step = 0;                 // of the last code that was accepted
  bool otp_required = true;
  bool suspended = false;
  std::int64_t version = 1;  // sessions opened under an older one are over
  Timestamp created_at;
  Timestamp updated_at;
};

/// In the order they were added.
std::vector<OperatorRow> list_operators(Connection& db);
std::optional<OperatorRow> find_operator(Connection& db, OperatorId id);
std::optional<OperatorRow> find_operator_by_name(Connection& db, std::string_view name);
bool has_operators(Connection& db);
/// How many could sign in as administrator: the last one is not taken away.
std::int64_t count_administrators(Connection& db);
/// The caller has checked that the name is free.
void insert_operator(WriteTx& tx, const OperatorRow& row);
/// Replaces everything but id and name.
void update_operator(WriteTx& tx, const OperatorRow& row);

struct OperatorLink {
  std::optional<OperatorId> for_whom;  // none: makes a new administrator
  Timestamp expires_at;
};

/// `hash` is SHA-256 of the link's secret. Links that are over are dropped on the way.
void insert_operator_link(WriteTx& tx, std::string_view hash, const OperatorLink& link);
std::optional<OperatorLink> find_operator_link(Connection& db, std::string_view hash);
void delete_operator_link(WriteTx& tx, std::string_view hash);
/// Every link of one operator; without one, every link that makes an administrator.
void delete_operator_links(WriteTx& tx, std::optional<OperatorId> for_whom);

}  // namespace coffer::store
