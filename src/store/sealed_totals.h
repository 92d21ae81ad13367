// What a table contains in total, sealed with a key of the file: the number of its rows and a value
// that depends on each of them. A row that another program deleted together with its own proof,
// such as the newest audit entry or a guarded row with its digest, is found by it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "store/chain_keys.h"
#include "store/connection.h"

namespace coffer::store {

struct SealedTotal {
  std::int64_t rows = 0;
  Sha256 sum{};
  bool operator==(const SealedTotal&) const = default;
};

/// The total with this sum as the file holds it. A sum of another length than a digest's, which
/// only another program writes, gives -1 rows: a total that nothing fits.
SealedTotal sealed_total(std::int64_t rows, std::string_view sum);

/// Adds a digest to the total, or takes it out.
void count_in(SealedTotal& total, std::string_view digest);
void count_out(SealedTotal& total, std::string_view digest);

/// The total of `source`. nullopt: it is missing, or another program wrote it. The first call on an
/// unwritten file begins all totals; it therefore precedes the write of what is counted.
std::optional<SealedTotal> total_to_change(Connection& writer, std::string_view source);
void write_total(Connection& writer, std::string_view source, const SealedTotal& total);

/// A sentence about a total that is not the one in the file, or an empty text. On a connection
/// without keys, the seal is not checked.
std::string total_fault(Connection& db, std::string_view source, const SealedTotal& found);

}  // namespace coffer::store
