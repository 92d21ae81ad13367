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
#include "store/file/chain_keys.h"
#include "store/operations/copies.h"

namespace coffer::flows {

/// Creates the keys of a new file, and passes the chain keys to the writer. Call it before anything
/// else is written. Returns the hasher for the secrets of this file. `validation-failed` if a file
/// with entries has no keys, `unexpected-error` if they cannot be unsealed.
Result<std::unique_ptr<const auth::SecretHasher>> prepare_file_keys(const Context& context);

/// The chain keys in the file of `db`. `validation-failed` if the file has none.
Result<std::unique_ptr<const store::ChainKeys>> open_chain_keys(const auth::Sealer& sealer,
                                                                store::Connection& db);
/// Sets the chain keys of the file on the connection, unless it already has them.
Result<void> use_chain_keys(const auth::Sealer& sealer, store::Connection& db);

/// A statement of the heads of a file's chains, signed with the key of that file. Stored apart from
/// the file, it shows whether the file was replaced by an older copy.
struct Checkpoint {
  std::string file;  // identity of the file: its public key, `G...`
  Timestamp at;
  store::ChainHeads heads;
  std::string backup;  // SHA-256 in hex of the backup that it signs, or `-`
  bool operator==(const Checkpoint&) const = default;
};

/// Returns one line without a line feed: `coffer-checkpoint-1 FILE MS ENTRY_SETS LINK AUDIT_ENTRIES
/// LINK BACKUP SIGNATURE`, links and backup in hex, the signature (Ed25519 over the text before it,
/// without the space) in base64url.
Result<std::string> sign_heads(const auth::Sealer& sealer, store::Connection& db, Timestamp at,
                               const store::ChainHeads& heads, std::string_view backup);
/// The same with the current heads of `db`.
Result<std::string> sign_checkpoint(const auth::Sealer& sealer, store::Connection& db, Timestamp at,
                                    std::string_view backup = "-");
/// `validation-failed` if the line is not a checkpoint or its signature is invalid.
Result<Checkpoint> parse_checkpoint(std::string_view line);
using Checkpoints = std::vector<Checkpoint>;
/// All checkpoints in a text, which is a list of checkpoints or a log. `validation-failed` if it
/// contains no checkpoint, or an invalid one.
Result<Checkpoints> parse_checkpoints(std::string_view text);
/// The same for a regular file of at most 1 GiB, of which it keeps only the checkpoints. Also
/// `not-found` and `forbidden` (base/files/readable_file.h).
Result<Checkpoints> read_checkpoints(const std::string& path);

/// The public key of the file of `db`.
Result<std::string> file_identity(const auth::Sealer& sealer, store::Connection& db);
/// Why this file does not match the checkpoints: another identity, an older state, or different
/// content. Empty if it does. All checkpoints are compared, because after a return to an older
/// state, the newest checkpoint may match.
std::string mismatch_with(const auth::Sealer& sealer, store::Connection& db,
                          const Checkpoints& checkpoints);
/// The same without the master key, which compares no identity.
std::string mismatch_with(store::Connection& db, const Checkpoints& checkpoints);

/// Opens the keys of a file for a verification, with the file's master key. `sealer` must outlive
/// the result.
store::OpenKeys keys_under(const auth::Sealer& sealer);

/// A master key that may belong to a file that this process does not serve.
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
/// Like keys_under, if the key belongs to the file. Empty without a candidate. The candidate must
/// outlive the result.
store::OpenKeys keys_of(const KeyCandidate* key);

}  // namespace coffer::flows
