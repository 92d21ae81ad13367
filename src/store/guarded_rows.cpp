#include "store/guarded_rows.h"

#include <sqlite3.h>

#include <array>
#include <cstring>
#include <set>
#include <utility>

#include "base/check.h"
#include "store/chain_keys.h"
#include "store/rows/canonical.h"

namespace coffer::store {
namespace {

constexpr bool kFinal = true;

constexpr std::array<GuardedTable, 17> kTables{{
    {"associations", "id, name, status, entity_type"},
    {"applications",
     "id, tenant, environment, suspended, scopes, key_version, client_id, client_secret_hash,"
     " api_key_hash, connect_hash, sign_in_hash, public_key, networks, old_client_secret_hash,"
     " old_api_key_hash, old_connect_hash, old_sign_in_hash, old_key_version, old_until"},
    {"operators",
     "id, name, role, password_hash, sealed_otp, otp_required, suspended, version, created_at"},
    {"operator_links", "hash, operator, expires_at"},
    {"operator_recovery_codes", "operator, hash"},
    {"operator_passkeys", "operator, credential, site, public_key, created_at", kFinal},
    {"operator_subjects", "operator, issuer, subject"},
    {"users", "id, association, username, password_hash, sealed_otp, suspended, key_version"},
    {"wallets", "tenant, id, account_number, public_key, sealed_seed, asset, own_account, status"},
    {"accounts", "tenant, kind, wallet, asset, connector", kFinal},
    {"fundings", "transaction_id, description", kFinal},
    {"destinations",
     "beneficiary, tenant, id, method, country, currency, account_name, account_number, iban,"
     " bank_name, bank_code, branch_code, swift_bic, provider, phone_number, network_name,"
     " asset_symbol, wallet_address, memo, created_at",
     kFinal},
    {"connectors",
     "id, environment, name, provider, driver, flow, direction, method, country, currency,"
     " currency_decimals, asset, rate_numerator, rate_denominator, fee_fixed, fee_basis_points,"
     " min_amount, max_amount, day_limit, month_limit, transaction_types, status"},
    {"connector_endpoints", "id, connector, base_url, sealed_secret, timeout_ms, retired_at"},
    {"webhooks",
     "tenant, application, id, url, event_types, sealed_secret, old_secret, disabled_at"},
    {"rates", "environment, sell, buy, numerator, denominator"},
    {"fee_rows", "association, connector, transaction_type, fixed, basis_points"},
}};

constexpr const char* kMac = "SELECT mac FROM row_macs WHERE source = ? AND row = ?";
constexpr const char* kMacsAfter =
    "SELECT row, mac FROM row_macs WHERE source = ? AND row > ? ORDER BY row";
constexpr const char* kSetMac =
    "INSERT INTO row_macs (source, row, mac) VALUES (?, ?, ?)"
    " ON CONFLICT (source, row) DO UPDATE SET mac = excluded.mac";
constexpr const char* kDropMac = "DELETE FROM row_macs WHERE source = ? AND row = ?";

constexpr const char* kSlot = "changed rows";
/// Index of the table, and key.
using Changed = std::set<std::pair<std::size_t, std::int64_t>>;

void drop(void* rows) { delete static_cast<Changed*>(rows); }

Changed& changed(Connection& writer) {
  void* rows = sqlite3_get_clientdata(writer.handle(), kSlot);
  COFFER_CHECK(rows != nullptr);
  return *static_cast<Changed*>(rows);
}

void note(void* rows, int operation, const char*, const char* table, long long row) {
  for (std::size_t i = 0; i < kTables.size(); ++i) {
    if (std::strcmp(table, kTables[i].name) != 0) continue;
    if (operation != SQLITE_UPDATE || !kTables[i].final)
      static_cast<Changed*>(rows)->emplace(i, row);
    return;
  }
}

/// The statements of a table, built once. Their addresses identify them.
struct Statements {
  std::string one;
  std::string after;
};
const Statements& statements_of(std::size_t table) {
  static const auto all = [] {
    std::array<Statements, kTables.size()> out;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::string select =
          "SELECT rowid, " + canonical_columns(kTables[i].columns) + " FROM " + kTables[i].name;
      out[i] = {select + " WHERE rowid = ?", select + " WHERE rowid > ? ORDER BY rowid LIMIT ?"};
    }
    return out;
  }();
  return all[table];
}

Sha256 digest_of(const ChainKeys& keys, const GuardedTable& table, const Query& row) {
  return keys.rows.of(std::string(table.name) + '|' + std::to_string(row.integer(0)) + '|',
                      row.text(1));
}

void write_digest(Connection& db, const ChainKeys& keys, std::size_t index, std::int64_t key) {
  const GuardedTable& table = kTables[index];
  Query row(db, statements_of(index).one.c_str(), key);
  if (!row.step()) return db.run(kDropMac, table.name, key);
  const Sha256 digest = digest_of(keys, table, row);
  {
    Query present(db, kMac, table.name, key);
    if (present.step() && present.blob(0) == as_text(digest)) return;
  }
  db.run(kSetMac, table.name, key, Blob{as_text(digest)});
}

std::string fault_of(const GuardedTable& table, std::int64_t key, std::string_view what) {
  return std::string(table.name) + " row " + std::to_string(key) + std::string(what);
}

/// The rows of one table after the position.
void follow_table(Connection& db, GuardedPosition& from, std::int64_t limit, GuardedPiece& out) {
  const ChainKeys* keys = keys_of(db);
  const GuardedTable& table = kTables[from.table];
  Query rows(db, statements_of(from.table).after.c_str(), from.row, limit);
  Query macs(db, kMacsAfter, table.name, from.row);
  bool more = macs.step();
  std::int64_t found = 0;
  for (; rows.step(); ++found) {
    from.row = rows.integer(0);
    if (more && macs.integer(0) < from.row) break;
    if (!more || macs.integer(0) > from.row) {
      out.fault = fault_of(table, from.row, " was inserted by another program");
      return;
    }
    if (keys != nullptr && macs.blob(1) != as_text(digest_of(*keys, table, rows))) {
      out.fault = fault_of(table, from.row, " was changed by another program");
      return;
    }
    more = macs.step();
  }
  out.rows += found;
  if (found == limit) return;
  if (more) {
    out.fault = fault_of(table, macs.integer(0), " was deleted by another program");
    return;
  }
  from = {from.table + 1, INT64_MIN};
  out.end = from.table == kTables.size();
}

}  // namespace

std::span<const GuardedTable> guarded_tables() { return kTables; }

void note_changed_rows(Connection& writer) {
  auto* rows = new Changed;
  COFFER_CHECK(sqlite3_set_clientdata(writer.handle(), kSlot, rows, drop) == SQLITE_OK);
  sqlite3_update_hook(writer.handle(), note, rows);
}

void write_row_digests(Connection& writer) {
  Changed& rows = changed(writer);
  if (rows.empty()) return;
  const ChainKeys* keys = keys_of(writer);
  COFFER_CHECK(keys != nullptr);
  for (const auto& [table, row] : rows) write_digest(writer, *keys, table, row);
  rows.clear();
}

void forget_changed_rows(Connection& writer) { changed(writer).clear(); }

GuardedPiece follow_guarded_rows(Connection& db, GuardedPosition& from, std::int64_t limit) {
  GuardedPiece out;
  while (!out.end && out.fault.empty() && out.rows < limit) {
    follow_table(db, from, limit - out.rows, out);
  }
  return out;
}

std::string verify_guarded_rows(Connection& db) {
  GuardedPosition from;
  return follow_guarded_rows(db, from, INT64_MAX).fault;
}

}  // namespace coffer::store
