// The total content of a table, sealed with a key of the file: the number of its rows and a value
// that depends on each row. It reveals a row that another program deleted or replaced by an older
// version together with its own proof, such as the newest audit entry, or a guarded row with its
// digest. For a guarded table, the value is the multiset hash of its digests
// (base/crypto/multiset_hash.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/file/chain_keys.h"
#include "store/file/connection.h"

namespace coffer::store {

/// The link before the first row of a chain: 32 raw bytes, as is each link.
inline std::string genesis_link() { return std::string(32, '\0'); }

/// The last verified row of a chain, and its link.
struct ChainPosition {
  std::int64_t row = 0;
  std::string link = genesis_link();
};
/// The result of verifying part of a chain.
struct ChainPiece {
  std::int64_t rows = 0;
  bool end = false;   // the end of the chain was reached
  std::string fault;  // a sentence about the first invalid row; empty if all are valid
};

struct SealedTotal {
  std::int64_t rows = 0;
  std::string sum = {};
  bool operator==(const SealedTotal&) const = default;
};

/// The total with the last entry of the audit log and its link, which reveals entries that are
/// missing at the end.
inline constexpr std::string_view kAuditTotal = "audit_log";
/// The total with the end of the journal and of the payments (store/payments/payment_seal.h).
inline constexpr std::string_view kLedgerTotal = "ledger";

/// Adds a digest to the total, or removes it.
void count_in(SealedTotal& total, std::string_view digest);
void count_out(SealedTotal& total, std::string_view digest);

/// The total of `source`. nullopt: it is missing, or another program wrote it. The first call on an
/// unwritten file creates all totals, so call it before you write the counted rows.
std::optional<SealedTotal> total_to_change(Connection& writer, std::string_view source);
/// The total in the file, with any seal; nothing counted if it is missing.
SealedTotal stored_total(Connection& db, std::string_view source);
/// Whether no counted row was ever written.
bool has_no_proof(Connection& db);
void write_total(Connection& writer, std::string_view source, const SealedTotal& total);

/// A sentence if the total differs from the one in the file, otherwise an empty text. On a
/// connection without keys, the seal is not checked.
std::string total_fault(Connection& db, std::string_view source, const SealedTotal& found);

}  // namespace coffer::store
