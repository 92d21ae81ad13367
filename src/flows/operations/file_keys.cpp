#include "flows/operations/file_keys.h"

#include <span>
#include <utility>

#include "auth/strkey.h"
#include "base/digest.h"
#include "base/files/readable_file.h"
#include "base/text/next_part.h"
#include "base/text/whole_number.h"
#include "store/ledger/catalog.h"
#include "store/schema.h"

namespace coffer::flows {
namespace {

// Rows of meta, and contexts of the sealed values.
constexpr std::string_view kRootKey = "chain_key";
constexpr std::string_view kCheckpointKey = "checkpoint_key";
constexpr std::string_view kFormat = "coffer-checkpoint-1";
constexpr std::size_t kLogBytesMax = std::size_t{1} << 30;
// One label per purpose.
constexpr std::string_view kJournalLabel = "coffer journal link v1";
constexpr std::string_view kAuditLabel = "coffer audit link v1";
constexpr std::string_view kRowsLabel = "coffer row mac v1";
constexpr std::string_view kSecretsLabel = "coffer secret hash v1";

auth::MasterKey root_key(const Secret& root) {
  const std::string& bytes = root.reveal();
  return auth::MasterKey(std::span<const std::uint8_t, auth::MasterKey::kBytes>(
      reinterpret_cast<const std::uint8_t*>(bytes.data()), auth::MasterKey::kBytes));
}

std::unique_ptr<const store::ChainKeys> chain_keys_under(const auth::MasterKey& root) {
  const auto keyed = [&](std::string_view label) {
    return KeyedDigest(root.derive(label).reveal());
  };
  return std::unique_ptr<const store::ChainKeys>(
      new store::ChainKeys{keyed(kJournalLabel), keyed(kAuditLabel), keyed(kRowsLabel)});
}

Problem without_keys() {
  return Problem(Slug::validation_failed,
                 "The file has entries but no chain key: another program has changed it. Keep a "
                 "copy of the file, and restore a backup");
}

Result<void> create_file_keys(const Context& context) {
  const Secret root(context.random.bytes(auth::MasterKey::kBytes));
  const Secret seed = auth::generate_key_pair(context.random).seed_text;
  return context.write([&](store::WriteTx& tx) {
    store::write_meta(tx, kRootKey, context.sealer.seal(root.reveal(), kRootKey));
    store::write_meta(tx, kCheckpointKey, context.sealer.seal(seed.reveal(), kCheckpointKey));
  });
}

Result<auth::MasterKey> open_root(const auth::Sealer& sealer, store::Connection& db) {
  const auto sealed = store::read_meta(db, kRootKey);
  if (!sealed) return unexpected(without_keys());
  COFFER_TRY(const Secret root, sealer.open(*sealed, kRootKey));
  if (root.reveal().size() != auth::MasterKey::kBytes) return unexpected(without_keys());
  return root_key(root);
}

Result<auth::SigningKey> open_signing_key(const auth::Sealer& sealer, store::Connection& db) {
  const auto sealed = store::read_meta(db, kCheckpointKey);
  if (!sealed) return unexpected(without_keys());
  COFFER_TRY(const Secret seed, sealer.open(*sealed, kCheckpointKey));
  return auth::SigningKey::from_seed(seed);
}

Problem no_checkpoint(std::string_view what) {
  return Problem(Slug::validation_failed,
                 "The checkpoint is invalid: " + std::string(what) +
                     ". Use the output of `coffer checkpoint`, or a server log");
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out(1);
  for (const char c : line) {
    if (c == ' ') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

}  // namespace

Result<std::string> sign_heads(const auth::Sealer& sealer, store::Connection& db, Timestamp at,
                               const store::ChainHeads& heads, std::string_view backup) {
  COFFER_TRY(const auth::SigningKey key, open_signing_key(sealer, db));
  std::string line(kFormat);
  for (const std::string& word :
       {key.public_key().to_string(), std::to_string(at.ms), std::to_string(heads.entry_sets),
        to_hex(heads.journal), std::to_string(heads.audit_entries), to_hex(heads.audit),
        std::string(backup)}) {
    line += ' ' + word;
  }
  const auth::Signature signature = key.sign(line);
  return line + ' ' + to_base64url(as_text(signature));
}

Result<std::string> sign_checkpoint(const auth::Sealer& sealer, store::Connection& db, Timestamp at,
                                    std::string_view backup) {
  return sign_heads(sealer, db, at, store::chain_heads(db), backup);
}

Result<Checkpoint> parse_checkpoint(std::string_view line) {
  const auto words = words_of(line);
  constexpr std::size_t kWords = 9;
  if (words.size() != kWords || words[0] != kFormat) return unexpected(no_checkpoint("its form"));
  const auto key = auth::PublicKey::parse(words[1]);
  const auto journal = from_hex(words[4]);
  const auto audit = from_hex(words[6]);
  const auto signature = from_base64url(words[8]);
  const auto at_ms = whole_number<std::int64_t>(words[2]);
  const auto entry_sets = whole_number<std::int64_t>(words[3]);
  const auto audit_entries = whole_number<std::int64_t>(words[5]);
  if (!key || !journal || !audit || !signature || !at_ms || !entry_sets || !audit_entries) {
    return unexpected(no_checkpoint("its form"));
  }
  if (!auth::verify(*key, line.substr(0, line.rfind(' ')), *signature)) {
    return unexpected(no_checkpoint("its signature"));
  }
  return Checkpoint{words[1], {*at_ms}, {*entry_sets, *journal, *audit_entries, *audit}, words[7]};
}

namespace {

/// Adds the checkpoint of a line, if it contains one.
Result<void> take_line(std::string_view line, Checkpoints& out) {
  const auto begin = line.find(kFormat);
  if (begin == std::string_view::npos) return {};
  const auto end = line.find('"', begin);
  COFFER_TRY(auto found, parse_checkpoint(line.substr(
                             begin, end == std::string_view::npos ? end : end - begin)));
  out.push_back(std::move(found));
  return {};
}

Result<Checkpoints> not_empty(Checkpoints found) {
  if (found.empty()) return unexpected(no_checkpoint("it is missing"));
  return found;
}

}  // namespace

Result<Checkpoints> parse_checkpoints(std::string_view text) {
  Checkpoints out;
  while (!text.empty()) COFFER_TRY_VOID(take_line(next_whole_part(text, '\n'), out));
  return not_empty(std::move(out));
}

Result<Checkpoints> read_checkpoints(const std::string& path) {
  Checkpoints out;
  COFFER_TRY_VOID(
      read_lines(path, kLogBytesMax, [&](std::string_view line) { return take_line(line, out); }));
  return not_empty(std::move(out));
}

Result<std::string> file_identity(const auth::Sealer& sealer, store::Connection& db) {
  COFFER_TRY(const auth::SigningKey key, open_signing_key(sealer, db));
  return key.public_key().to_string();
}

std::string mismatch_with(const auth::Sealer& sealer, store::Connection& db,
                          const Checkpoints& checkpoints) {
  const auto own = file_identity(sealer, db);
  if (!own) return own.error().detail;
  for (const Checkpoint& checkpoint : checkpoints) {
    if (*own != checkpoint.file) {
      return "the checkpoint belongs to the file " + checkpoint.file + ", and this is " + *own;
    }
  }
  return mismatch_with(db, checkpoints);
}

std::string mismatch_with(store::Connection& db, const Checkpoints& checkpoints) {
  for (const Checkpoint& checkpoint : checkpoints) {
    std::string fault = store::mismatch_with(db, checkpoint.heads);
    if (!fault.empty()) return fault;
  }
  return {};
}

Result<std::unique_ptr<const store::ChainKeys>> open_chain_keys(const auth::Sealer& sealer,
                                                                store::Connection& db) {
  COFFER_TRY(const auth::MasterKey root, open_root(sealer, db));
  return chain_keys_under(root);
}

Result<void> use_chain_keys(const auth::Sealer& sealer, store::Connection& db) {
  if (store::keys_of(db) != nullptr) return {};
  COFFER_TRY(auto keys, open_chain_keys(sealer, db));
  store::use_keys(db, std::move(keys));
  return {};
}

Result<std::unique_ptr<const auth::SecretHasher>> prepare_file_keys(const Context& context) {
  // A full disk must not prevent a start, so a file that has its keys is only read.
  COFFER_TRY(const bool is_new, context.read([](store::Connection& db) {
    return !store::read_meta(db, kRootKey) && store::is_unwritten(db);
  }));
  if (is_new) COFFER_TRY_VOID(create_file_keys(context));
  COFFER_TRY(const auth::MasterKey root,
             context.read([&](store::Connection& db) -> Result<auth::MasterKey> {
               COFFER_TRY_VOID(file_identity(context.sealer, db));
               return open_root(context.sealer, db);
             }));
  context.queue.use_keys(chain_keys_under(root));
  context.database.use_keys([root] { return chain_keys_under(root); });
  return std::make_unique<const auth::SecretHasher>(root.derive(kSecretsLabel));
}

store::OpenKeys keys_under(const auth::Sealer& sealer) {
  return [&sealer](store::Connection& db) { return open_chain_keys(sealer, db); };
}

bool KeyCandidate::fits(store::Connection& db) const {
  return store::read_meta(db, store::kKeyCheck) == fingerprint_;
}

store::OpenKeys keys_of(const KeyCandidate* key) {
  if (key == nullptr) return {};
  return [key](store::Connection& db) -> Result<std::unique_ptr<const store::ChainKeys>> {
    if (!key->fits(db)) return {nullptr};
    return open_chain_keys(key->sealer(), db);
  };
}

}  // namespace coffer::flows
