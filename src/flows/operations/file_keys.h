// The keys of a file, and the checkpoints that are signed with them. The keys are random and sealed
// under the master key in the file itself, so that the rotation of the master key keeps all links
// and signatures valid.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "auth/master_key.h"
#include "auth/seal.h"
#include "auth/secret_hash.h"
#include "base/random.h"
#include "flows/context.h"
#include "store/chain_keys.h"
#include "store/operations/copies.h"

namespace coffer::flows {

/// Creates the keys of a new file, and gives them to the writer. Call it before anything else is
/// written. Returns what hashes the secrets of this file. `validation-failed` if a file with
/// entries has lost its keys, `unexpected-error` if they do not open.
Result<std::unique_ptr<const auth::SecretHasher>> prepare_file_keys(const Context& context);

/// The chain keys in the file of `db`. `validation-failed` if the file has none.
Result<std::unique_ptr<const store::ChainKeys>> open_chain_keys(const auth::Sealer& sealer,
                                                                store::Connection& db);
/// Gives the connection the keys of its file, unless it has them already.
Result<void> use_chain_keys(const auth::Sealer& sealer, store::Connection& db);

/// A statement of how far a file had come, signed with the key of that file. Kept away from the
/// file, it shows whether the file was replaced by an older one.
struct Checkpoint {
  std::string file;  // identity of the file: its public key, `G...`
  Timestamp at;
  store::ChainHeads heads;
  std::string backup;  // SHA-256 in hex of the backup that it signs, or `-`
  bool operator==(const Checkpoint&) const = default;
};

/// One line without a line feed: `coffer-checkpoint-1 FILE MS ENTRY_SETS LINK AUDIT_ENTRIES LINK
/// BACKUP SIGNATURE`, links and backup in hex, the signature (Ed25519 over the text before it,
/// without the space) in base64url.
Result<std::string> sign_heads(const auth::Sealer& sealer, store::Connection& db, Timestamp at,
                               const store::ChainHeads& heads, std::string_view backup);
/// The same with the present heads of `db`.
Result<std::string> sign_checkpoint(const auth::Sealer& sealer, store::Connection& db, Timestamp at,
                                    std::string_view backup = "-");
/// `validation-failed` if the line is no checkpoint or its signature is wrong.
Result<Checkpoint> parse_checkpoint(std::string_view line);
using Checkpoints = std::vector<Checkpoint>;
/// All checkpoints in a text: a list of them, or a log. `validation-failed` if it is missing
/// or one is invalid.
Result<Checkpoints> parse_checkpoints(std::istream& text);
/// In a file; also `not-found`.
Result<Checkpoints> read_checkpoints(const std::string& path);

/// The public key of the file of `db`.
Result<std::string> file_identity(const auth::Sealer& sealer, store::Connection& db);
/// Why this file is not the file of the checkpoints, is behind one, or differs from one; empty
/// otherwise. All count: after a return to an older state, the newest may fit.
std::string departure_from(const auth::Sealer& sealer, store::Connection& db,
                           const Checkpoints& checkpoints);
/// The same without the master key, which compares no identity.
std::string departure_from(store::Connection& db, const Checkpoints& checkpoints);

/// How a verification opens the keys of a file whose master key this is. `sealer` must outlive it.
store::OpenKeys keys_under(const auth::Sealer& sealer);

/// A master key that may be the one of a file that this process does not serve.
class KeyCandidate {
 public:
  explicit KeyCandidate(const auth::MasterKey& key)
      : fingerprint_(key.fingerprint()), sealer_(key, random_) {}
  bool fits(store::Connection& db) const;
  const auth::Sealer& sealer() const { return sealer_; }

 private:
  OsRandom random_;
  std::string fingerprint_;
  auth::Sealer sealer_;
};
/// As keys_under, if the key fits. Empty without a candidate, which must outlive it.
store::OpenKeys keys_of(const KeyCandidate* key);

}  // namespace coffer::flows
