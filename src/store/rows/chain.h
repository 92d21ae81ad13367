// What the chains of the journal and of the audit log have in common, and the canonical text of a
// row, over which keyed digests are computed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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

/// The number of names in a list that is separated by commas.
int count_names(std::string_view names);

/// Appends `count` columns of the row from `first` on: per column `-` for NULL, otherwise the
/// number of bytes, `:` and the bytes (of an integer: its decimal digits).
void append_canonical(const Query& row, int first, int count, std::string& out);

}  // namespace coffer::store
