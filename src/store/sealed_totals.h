// The total content of a table, sealed with a key of the file: the number of its rows and a value
// that depends on each row. It reveals a row that another program deleted together with its own
// proof, such as the newest audit entry, or a guarded row with its digest.
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

/// The total in the file with this sum. If the sum does not have the length of a digest, another
/// program wrote it, and the result has -1 rows, which match no table.
SealedTotal sealed_total(std::int64_t rows, std::string_view sum);

/// Adds a digest to the total, or removes it.
void count_in(SealedTotal& total, std::string_view digest);
void count_out(SealedTotal& total, std::string_view digest);

/// The total of `source`. nullopt: it is missing, or another program wrote it. The first call on an
/// unwritten file creates all totals, so call it before you write the counted rows.
std::optional<SealedTotal> total_to_change(Connection& writer, std::string_view source);
void write_total(Connection& writer, std::string_view source, const SealedTotal& total);

/// A sentence if the total differs from the one in the file, otherwise an empty text. On a
/// connection without keys, the seal is not checked.
std::string total_fault(Connection& db, std::string_view source, const SealedTotal& found);

}  // namespace coffer::store
