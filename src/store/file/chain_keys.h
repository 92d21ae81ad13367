// The chains of a file and their keys. With these keys, a file proves its own rows: keyed links of
// the journal and of the audit log, and keyed digests of the rows that grant access. Only a process
// with the master key has them. Without them, the structure of a file can be verified, but not
// whether coffer wrote it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/crypto/keyed_digest.h"

namespace coffer::store {

class Connection;

struct ChainKeys {
  KeyedDigest journal;
  KeyedDigest audit;
  KeyedDigest rows;
};

/// Makes keys for one connection.
using MakeKeys = std::function<std::unique_ptr<const ChainKeys>()>;

/// Gives a connection the keys of its file until it is closed. Writing an entry set, an audit entry
/// or a guarded row requires them. Verification uses them if they are present.
void use_keys(Connection& db, std::unique_ptr<const ChainKeys> keys);
/// nullptr: the connection has none.
const ChainKeys* keys_of(Connection& db);

/// Whether the file contains nothing that the keys prove. Only such a file may get new keys.
bool is_unwritten(Connection& db);

/// The last row of each chain and its link; 0 and zero bytes for an empty chain.
struct ChainHeads {
  std::int64_t entry_sets = 0;
  std::string journal = std::string(32, '\0');
  std::int64_t audit_entries = 0;
  std::string audit = std::string(32, '\0');
  bool operator==(const ChainHeads&) const = default;
};
ChainHeads chain_heads(Connection& db);
/// Why the file is not a continuation of these heads; empty if it is.
std::string mismatch_with(Connection& db, const ChainHeads& heads);

}  // namespace coffer::store
