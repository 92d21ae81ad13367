#include "store/rows/sealed_totals.h"

#include "base/check.h"
#include "base/crypto/multiset_hash.h"
#include "store/rows/guarded_rows.h"

namespace coffer::store {
namespace {

constexpr const char* kTotal = "SELECT rows, sum, seal FROM sealed_totals WHERE source = ?";
constexpr const char* kSetTotal =
    "INSERT INTO sealed_totals (source, rows, sum, seal) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (source) DO UPDATE SET rows = excluded.rows, sum = excluded.sum,"
    " seal = excluded.seal";
constexpr const char* kIsUnwritten =
    "SELECT (SELECT min(source) FROM sealed_totals) IS NULL"
    " AND (SELECT min(source) FROM row_macs) IS NULL"
    " AND (SELECT max(entry) FROM audit_log) IS NULL";

// The numbers of payments, of their versions, of payments in progress and of their versions.
constexpr std::string_view kNoPayments = "|0|0|0|0|";

const ChainKeys& keys_for_writing(Connection& db) {
  const ChainKeys* keys = keys_of(db);
  COFFER_CHECK(keys != nullptr);
  return *keys;
}

std::string seal_of(const ChainKeys& keys, std::string_view source, const SealedTotal& total) {
  const std::string head = "total|" + std::string(source) + '|' + std::to_string(total.rows) + '|';
  return std::string(as_text(keys.rows.of(head, total.sum)));
}

struct StoredTotal {
  SealedTotal total;
  std::string seal;
};
std::optional<StoredTotal> find_total(Connection& db, std::string_view source) {
  Query query(db, kTotal, source);
  if (!query.step()) return std::nullopt;
  return StoredTotal{{query.integer(0), query.blob(1)}, query.blob(2)};
}

}  // namespace

SealedTotal stored_total(Connection& db, std::string_view source) {
  const auto stored = find_total(db, source);
  return stored ? stored->total : SealedTotal();
}

bool has_no_proof(Connection& db) {
  Query query(db, kIsUnwritten);
  return query.step() && query.boolean(0);
}

void count_in(SealedTotal& total, std::string_view digest) {
  ++total.rows;
  add_to_multiset(total.sum, digest);
}

void count_out(SealedTotal& total, std::string_view digest) {
  --total.rows;
  remove_from_multiset(total.sum, digest);
}

std::optional<SealedTotal> total_to_change(Connection& writer, std::string_view source) {
  const auto stored = find_total(writer, source);
  if (stored) {
    const bool is_ours = stored->seal == seal_of(keys_for_writing(writer), source, stored->total);
    return is_ours ? std::optional(stored->total) : std::nullopt;
  }
  if (!has_no_proof(writer)) return std::nullopt;
  for (const GuardedTable& table : guarded_tables()) write_total(writer, table.name, {});
  write_total(writer, kAuditTotal, {0, genesis_link()});
  write_total(writer, kLedgerTotal, {0, genesis_link() + std::string(kNoPayments)});
  adopt_founding_rows(writer);
  return find_total(writer, source)->total;
}

void write_total(Connection& writer, std::string_view source, const SealedTotal& total) {
  const std::string seal = seal_of(keys_for_writing(writer), source, total);
  writer.run(kSetTotal, source, total.rows, Blob{total.sum}, Blob{seal});
}

std::string total_fault(Connection& db, std::string_view source, const SealedTotal& found) {
  const auto stored = find_total(db, source);
  const std::string table(source);
  if (!stored) {
    return has_no_proof(db) ? ""
                            : "the sealed total of " + table + " was deleted by another program";
  }
  if (stored->total.rows != found.rows) {
    return table + " has " + std::to_string(found.rows) + " rows instead of " +
           std::to_string(stored->total.rows) + ": another program changed it";
  }
  if (stored->total != found) return table + " has rows that differ from what coffer wrote";
  const ChainKeys* keys = keys_of(db);
  if (keys == nullptr || stored->seal == seal_of(*keys, source, stored->total)) return {};
  return "the sealed total of " + table + " was changed by another program";
}

}  // namespace coffer::store
