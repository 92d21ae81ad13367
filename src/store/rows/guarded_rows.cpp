#include "store/rows/guarded_rows.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "base/numbers.h"
#include "base/telemetry/log.h"
#include "domain/providers/connector.h"
#include "store/file/chain_keys.h"
#include "store/rows/columns.h"
#include "store/rows/key_walk.h"
#include "store/rows/members.h"
#include "store/rows/sealed_totals.h"

namespace coffer::store {
namespace {

std::atomic<std::uint64_t> foreign_change_count{0};

constexpr bool kFinal = true;

const GuardedNames kConnectors = guarded_names<ConnectorTerms>();
const GuardedNames kRequirements = guarded_names<Requirement>("connector, position");
const std::array<GuardedTable, 42> kTables{{
    {"meta", "name, value", !kFinal,
     "name NOT IN ('time', 'last_backup', 'backup_failure', 'last_checkpoint', 'log_position', "
     "'log_end', 'archive_proof', 'restored_over')"},
    {"tenants", "association, environment"},
    {"assets", "code, issuer, name, decimals", kFinal},
    {"associations", "id, name, status, entity_type"},
    {"applications",
     "id, tenant, environment, suspended, scopes, key_version, client_id, client_secret_hash,"
     " api_key_hash, connect_hash, sign_in_hash, public_key, networks, certificates,"
     " old_client_secret_hash, old_api_key_hash, old_connect_hash, old_sign_in_hash,"
     " old_key_version, old_until"},
    {"operators",
     "id, name, role, password_hash, sealed_otp, otp_step, otp_required, suspended, version,"
     " created_at"},
    {"approvals",
     "id, operator, version, command, detail, sealed_arguments, state, requested_at, expires_at,"
     " decided_by, decided_at, outcome"},
    {"operator_links", "hash, operator, expires_at"},
    {"operator_recovery_codes", "operator, hash"},
    {"operator_tokens", "hash, commands, networks, created_by, expires_at"},
    {"operator_passkeys", "operator, credential, site, public_key, sign_count, created_at"},
    {"operator_subjects", "operator, issuer, subject"},
    {"users",
     "id, association, username, password_hash, sealed_otp, otp_step, suspended, key_version"},
    {"refresh_tokens", "hash, family, application, key_version, spent, expires_at"},
    {"wallets", "tenant, id, account_number, public_key, sealed_seed, asset, own_account, status"},
    {"wallet_metadata",
     "entity_type, first_name, last_name, date_of_birth, nationality, id_type, id_number,"
     " company_name, registration_number, registration_country, tax_id, address, email, phone"},
    {"accounts", "tenant, kind, wallet, asset, connector, created_at", kFinal},
    {"fundings", "transaction_id, description", kFinal},
    {"beneficiaries",
     "tenant, id, entity_type, first_name, last_name, date_of_birth, nationality, company_name,"
     " registration_number, registration_country, email, phone, client_reference, archived_at"},
    {"beneficiary_addresses",
     "beneficiary, position, type, line1, line2, city, state, postal_code, country"},
    {"destinations",
     "beneficiary, tenant, id, method, country, currency, account_name, account_number, iban,"
     " bank_name, bank_code, branch_code, swift_bic, provider, phone_number, network_name,"
     " asset_symbol, wallet_address, memo, created_at, archived_at"},
    {"connectors", kConnectors.names, !kFinal, "", kConnectors.later},
    {"connector_requirements", kRequirements.names, !kFinal, "", kRequirements.later},
    {"connector_choices", "connector, position, choice, code, label"},
    {"connector_endpoints", "id, connector, base_url, sealed_secret, timeout_ms, retired_at"},
    {"webhooks",
     "tenant, application, id, url, event_types, sealed_secret, old_secret, old_secret_until,"
     " disabled_at, disable_reason"},
    {"webhook_recoveries", "webhook, next, last, asked_at"},
    {"onramp_references",
     "tenant, application, connector, wallet, customer_id, reference, related_to, has_metadata,"
     " created_at",
     kFinal},
    {"onramp_reference_metadata", "onramp_reference, name, value", kFinal},
    {"unassigned_arrivals",
     "id, connector, provider_payment_id, reference, amount, currency, payer_name, payer_account,"
     " payer_phone, arrived_at, returned_at, payment"},
    {"refunds",
     "payment, tenant, state, amount, fee, reason, at, booked_at, journal, connector, return_id,"
     " report, returned, with_fee, transaction_id, wanted, id, asked, held, failed_at, failure"},
    {"statement_files", "environment, connector, digest, format, lines, imported_at, completed_at"},
    {"bank_statements",
     "statement_file, position, number, page, currency, opening, closing, first_day, last_day",
     kFinal},
    {"bank_lines",
     "id, statement_file, environment, connector, bank_statement, replaces, mark, account, "
     "booked_on, value_on, amount,"
     " charges, currency, original_amount, original_currency, bank_reference, reference, text,"
     " party_name, party_account, code, imported_at",
     kFinal},
    {"bank_matches", "bank_line, kind, payment, refund, rule, undoes, reason, actor, at", kFinal},
    {"quotes",
     "tenant, id, connector, beneficiary, destination, transaction_type, send_amount,"
     " receive_amount, fee, total, rate_numerator, rate_denominator, provider_reference,"
     " created_at, expires_at"},
    {"rates", "environment, sell, buy, numerator, denominator"},
    {"fee_rows", "association, connector, transaction_type, fixed, basis_points"},
    {"quota_limits", "tenant, quota, maximum"},
    {"payment_limits",
     "tenant, application, wallet, asset, per_payment, per_day, per_month, count_per_day,"
     " count_per_month, since, created_at"},
    {"closed_periods", "journal, link, accounts, digest, closed_at", kFinal},
    {"messages", "alert, payment, id, kind, channel, recipient, count, oldest_at, at, state"},
}};
// A new file has rows of these tables before it has keys.
constexpr std::size_t kFoundingTables = 2;
/// Walks of a table whose total changes meanwhile. After that, the next round checks the total.
constexpr int kTriesMax = 5;

constexpr const char* kMac = "SELECT mac FROM row_macs WHERE source = ? AND row = ?";
constexpr const char* kMacsAfter =
    "SELECT row, mac FROM row_macs WHERE source = ? AND row > ? ORDER BY row";
constexpr const char* kSetMac =
    "INSERT INTO row_macs (source, row, mac) VALUES (?, ?, ?)"
    " ON CONFLICT (source, row) DO UPDATE SET mac = excluded.mac";
constexpr const char* kDropMac = "DELETE FROM row_macs WHERE source = ? AND row = ?";

constexpr const char* kAssociationOf = "SELECT association FROM tenants WHERE tenant = ?";
constexpr const char* kMetaRow = "SELECT rowid FROM meta WHERE name = ?";

struct ChangedRows {
  using Rows = std::set<std::pair<std::size_t, std::int64_t>>;  // index of the table, and key

  std::string path;
  Rows rows = {};
  Rows reported = {};  // rows that another program changed and that were already reported
  std::unique_ptr<Connection> reader = {};

  /// Reads the rows as the last commit left them.
  Connection& committed() {
    if (!reader) reader = std::make_unique<Connection>(path, OpenMode::read_only);
    return *reader;
  }
};

ChangedRows& changed_by(Connection& writer) {
  auto* const changed = writer.attached<ChangedRows>();
  COFFER_CHECK(changed != nullptr);
  return *changed;
}

void note(ChangedRows& changed, bool is_update, std::string_view table, std::int64_t row) {
  for (std::size_t i = 0; i < kTables.size(); ++i) {
    if (kTables[i].name != table) continue;
    if (!is_update || !kTables[i].final) changed.rows.emplace(i, row);
    return;
  }
}

/// The statements of a table, built once. Their addresses identify them.
struct Statements {
  std::string one;
  std::string with_mac;  // the row, and its digest as the last column
  std::string after;
  int columns = 0;  // after the key
};
const Statements& statements_of(std::size_t table) {
  static const auto all = [] {
    std::array<Statements, kTables.size()> out;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::string select = "SELECT rowid, " + std::string(kTables[i].columns);
      const std::string from = " FROM " + std::string(kTables[i].name) + " WHERE " +
                               std::string(kTables[i].rows) +
                               (kTables[i].rows.empty() ? "" : " AND ") + "rowid ";
      out[i] = {
          select + from + "= ?1",
          select + ", (SELECT mac FROM row_macs WHERE source = ?2 AND row = ?1)" + from + "= ?1",
          select + from + "> ? ORDER BY rowid LIMIT ?", count_names(kTables[i].columns)};
    }
    return out;
  }();
  return all[table];
}

Sha256 digest_of(const ChainKeys& keys, std::size_t table, const Query& row) {
  std::string text = std::string(kTables[table].name) + '|' + std::to_string(row.integer(0)) + '|';
  const int columns = statements_of(table).columns;
  const int later = kTables[table].later;
  append_canonical(row, 1, columns - later, text);
  for (int column = columns - later + 1; column <= columns; ++column) {
    if (row.is_null(column)) continue;
    text += '|';
    append_number(text, column);
    append_canonical(row, column, 1, text);
  }
  return keys.rows.of(text);
}

std::optional<Sha256> digest_in(Connection& db, const ChainKeys& keys, std::size_t table,
                                std::int64_t key) {
  Query row(db, statements_of(table).one.c_str(), key);
  return row.step() ? std::optional(digest_of(keys, table, row)) : std::nullopt;
}

bool is_same(const std::optional<Sha256>& digest, const std::optional<std::string>& stored) {
  if (!digest || !stored) return !digest && !stored;
  return as_text(*digest) == *stored;
}

std::optional<std::string> stored_digest(Connection& db, std::size_t table, std::int64_t key) {
  Query query(db, kMac, kTables[table].name, key);
  return query.step() ? std::optional(query.blob(0)) : std::nullopt;
}

/// A row that another program changed keeps its old digest, so that verification finds it.
void write_digest(Connection& db, ChangedRows& changed, const ChainKeys& keys, std::size_t table,
                  std::int64_t key, SealedTotal& total) {
  const std::string_view name = kTables[table].name;
  const auto stored = stored_digest(db, table, key);
  const auto now = digest_in(db, keys, table, key);
  if (is_same(now, stored)) return;
  if (!is_same(digest_in(changed.committed(), keys, table, key), stored)) {
    if (changed.reported.emplace(table, key).second) {
      log_error("store", "a row was changed by another program; it keeps its digest",
                {{"table", name}, {"row", key}});
    }
    return;
  }
  if (stored) count_out(total, *stored);
  if (now) count_in(total, as_text(*now));
  now ? db.run(kSetMac, name, key, Blob{as_text(*now)}) : db.run(kDropMac, name, key);
}

std::string fault_of(const GuardedTable& table, std::int64_t key, std::string_view what) {
  return std::string(table.name) + " row " + std::to_string(key) + std::string(what);
}

/// At the end of a table: its total. Walks it again if coffer has changed it during the walk.
void follow_total(Connection& db, GuardedPosition& from, GuardedPiece& out) {
  const std::string_view table = kTables[from.table].name;
  std::string fault = total_fault(db, table, from.found);
  const bool changed = !fault.empty() && stored_total(db, table) != from.stored;
  if (changed && ++from.tries < kTriesMax) {
    from = {.table = from.table, .tries = from.tries};
    return;
  }
  if (!changed) out.fault = std::move(fault);
  if (!out.fault.empty()) return;
  from = {.table = from.table + 1};
  out.end = from.table == kTables.size();
}

/// The rows of one table after the position.
void follow_table(Connection& db, GuardedPosition& from, std::int64_t limit, GuardedPiece& out) {
  const ChainKeys* keys = keys_of(db);
  const GuardedTable& table = kTables[from.table];
  if (from.table < kFoundingTables && has_no_proof(db)) {  // a new file
    from = {.table = from.table + 1};
    return;
  }
  if (from.row == INT64_MIN) from.stored = stored_total(db, table.name);
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
    if (keys != nullptr && macs.bytes(1) != as_text(digest_of(*keys, from.table, rows))) {
      out.fault = fault_of(table, from.row, " was changed by another program");
      return;
    }
    count_in(from.found, macs.bytes(1));
    more = macs.step();
  }
  out.rows += found;
  if (found == limit) return;
  if (more) {
    out.fault = fault_of(table, macs.integer(0), " was deleted by another program");
    return;
  }
  follow_total(db, from, out);
}

/// `row` has the covered columns after the key.
bool has_value(const Query& row, const GuardedTable& table, const FoundBy& value) {
  int at = 1;
  for (std::string_view left = table.columns; !left.empty(); ++at) {
    const std::size_t end = std::min(left.find(", "), left.size());
    if (left.substr(0, end) == value.column) {
      if (value.number) return !row.is_null(at) && row.integer(at) == *value.number;
      return value.bytes ? !row.is_null(at) && row.bytes(at) == *value.bytes : row.is_null(at);
    }
    left.remove_prefix(std::min(end + 2, left.size()));
  }
  throw InternalError("no digest covers the column " + std::string(value.column));
}

std::size_t index_of(std::string_view table) {
  const auto found = std::ranges::find(kTables, table, &GuardedTable::name);
  COFFER_CHECK(found != kTables.end());
  return static_cast<std::size_t>(found - kTables.begin());
}

}  // namespace

ForeignChange::ForeignChange(const std::string& what) : InternalError(what) {
  ++foreign_change_count;
}

std::uint64_t foreign_changes() { return foreign_change_count; }

void log_once(const ForeignChange& change) {
  static Mutex mutex;
  static std::set<std::string> logged;
  const Lock lock(mutex);
  if (!logged.insert(change.what()).second) return;
  log_error("store", "refused to act on a row that another program changed",
            {{"row", change.what()}});
}

std::span<const GuardedTable> guarded_tables() { return kTables; }

void note_changed_rows(Connection& writer, const std::string& path) {
  auto changed = std::make_unique<ChangedRows>(ChangedRows{path});
  writer.on_change([to = changed.get()](bool is_update, std::string_view table, std::int64_t row) {
    note(*to, is_update, table, row);
  });
  writer.attach(std::move(changed));
}

bool is_writer(Connection& db) { return db.attached<ChangedRows>() != nullptr; }

Connection& committed_rows(Connection& writer) { return changed_by(writer).committed(); }

void write_row_digests(Connection& writer) {
  ChangedRows& changed = changed_by(writer);
  if (changed.rows.empty()) return;
  const ChainKeys* keys = keys_of(writer);
  if (keys == nullptr && changed.rows.rbegin()->first < kFoundingTables && has_no_proof(writer)) {
    return changed.rows.clear();  // the first row with a digest adopts them
  }
  COFFER_CHECK(keys != nullptr);
  for (auto at = changed.rows.begin(); at != changed.rows.end();) {
    const std::size_t table = at->first;
    // A total that another program changed is not updated, so that verification finds it.
    const auto before = total_to_change(writer, kTables[table].name);
    SealedTotal total = before.value_or(SealedTotal());
    for (; at != changed.rows.end() && at->first == table; ++at) {
      write_digest(writer, changed, *keys, table, at->second, total);
    }
    if (before && total != *before) write_total(writer, kTables[table].name, total);
  }
  changed.rows.clear();
}

void adopt_founding_rows(Connection& writer) {
  const ChainKeys& keys = *keys_of(writer);
  for (std::size_t table = 0; table < kFoundingTables; ++table) {
    SealedTotal total;
    Query rows(writer, statements_of(table).after.c_str(), INT64_MIN, INT64_MAX);
    while (rows.step()) {
      const Sha256 digest = digest_of(keys, table, rows);
      count_in(total, as_text(digest));
      writer.run(kSetMac, kTables[table].name, rows.integer(0), Blob{as_text(digest)});
    }
    write_total(writer, kTables[table].name, total);
  }
}

void require_intact(Connection& db, std::string_view table, std::int64_t row,
                    std::initializer_list<FoundBy> found_by) {
  const ChainKeys* keys = keys_of(db);
  if (keys == nullptr) return;
  const std::size_t index = index_of(table);
  // A row that changed in this commit gets its digest at the end.
  const bool changed = is_writer(db) && changed_by(db).rows.contains({index, row});
  if (changed && found_by.size() == 0) return;
  const Statements& statements = statements_of(index);
  Query query(db, statements.with_mac.c_str(), row, table);
  const bool exists = query.step();
  const bool intact = changed || (exists ? query.bytes(statements.columns + 1) ==
                                               as_text(digest_of(*keys, index, query))
                                         : !stored_digest(db, index, row).has_value());
  if (!intact)
    throw ForeignChange(fault_of(kTables[index], row, " was changed by another program"));
  for (const FoundBy& value : found_by) {
    if (exists && has_value(query, kTables[index], value)) continue;
    throw ForeignChange(fault_of(kTables[index], row, " is not the row that has this ") +
                        std::string(value.column) + ": another program changed an index");
  }
}

void require_intact_tenant(Connection& db, std::int64_t tenant,
                           std::initializer_list<FoundBy> association_found_by) {
  if (keys_of(db) == nullptr) return;
  require_intact(db, "tenants", tenant);
  require_intact(db, "associations", first_integer(db, kAssociationOf, tenant),
                 association_found_by);
}

void require_intact_meta(Connection& db, std::string_view name) {
  if (keys_of(db) == nullptr) return;
  require_intact(db, "meta", first_integer(db, kMetaRow, name), {{"name", name}});
}

void forget_changed_rows(Connection& writer) { changed_by(writer).rows.clear(); }

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
