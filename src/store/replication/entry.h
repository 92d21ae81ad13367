// An entry of the log that the machines of one ledger share: sealed, because it leaves the machine,
// and chained to the entry before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/crypto/keyed_digest.h"
#include "base/random.h"
#include "base/result.h"
#include "base/strong.h"

namespace coffer::store {

enum class EntryKind : std::uint8_t {
  data = 1,       // a part of a commit (store/replication/commit_pages.h)
  takeover = 2,   // the first entry of an epoch; contains the address of its leader
  heartbeat = 3,  // empty: the leader works but has nothing to commit
};

/// A place in the log. Sequence numbers begin with 1 and have no gaps; an epoch has one leader, and
/// epochs never fall. Zero: before the first entry.
struct LogPosition {
  std::int64_t seq = 0;
  std::int64_t epoch = 0;
  bool operator==(const LogPosition&) const = default;
};

/// As the log stores it. The log cannot read the payload, and does not need to.
struct LogEntry {
  LogPosition at;
  EntryKind kind = EntryKind::data;
  Sha256 digest{};      // HMAC over the previous digest, position, kind and payload
  std::string payload;  // sealed
  bool operator==(const LogEntry&) const = default;
};

/// An entry as bytes: format, kind, place, digest, payload.
std::string to_bytes(const LogEntry& entry);
/// nullopt if the bytes are not an entry.
std::optional<LogEntry> entry_from(std::string_view bytes);
/// A place as 16 bytes.
std::string to_bytes(const LogPosition& at);
LogPosition position_from(std::string_view bytes);

/// The last entry of a log or of a part of it; zero before the first entry.
struct LogTail {
  LogPosition at;
  Sha256 digest{};
  bool operator==(const LogTail&) const = default;
};

/// What the machines of a ledger derive from the key that they share. Not thread-safe.
class EntryKeys {
 public:
  /// `root`: 32 bytes that no other purpose uses.
  explicit EntryKeys(const Secret& root);
  /// Identifies the ledger in a log, where several may be: 32 hex characters.
  const std::string& ledger() const { return ledger_; }

  /// Each entry has its own key, because two candidates may seal different entries for the same
  /// place, and the number of entries of a ledger has no limit.
  std::string seal(const LogPosition& at, EntryKind kind, std::string_view plain,
                   Random& random) const;
  /// nullopt if the payload was not sealed for this place with these keys.
  std::optional<std::string> open(const LogEntry& entry) const;
  Sha256 digest(const Sha256& previous, const LogEntry& entry) const;

 private:
  KeyedDigest seal_;
  KeyedDigest chain_;
  std::string ledger_;
};

/// Continues the chain of a log from its tail, to write it or to read it. Not thread-safe.
class EntryChain {
 public:
  /// `keys` must outlive this object.
  EntryChain(const EntryKeys& keys, LogTail tail) : keys_(&keys), tail_(tail) {}
  const LogTail& tail() const { return tail_; }

  /// The entry after the tail; it becomes the tail. A takeover begins the next epoch. `plain`: less
  /// than 1 MiB.
  LogEntry append(EntryKind kind, std::string_view plain, Random& random);
  /// Checks that the entry follows the tail, makes it the tail and returns its content.
  /// `validation-failed` if it is out of order, damaged, from another log, or sealed with other
  /// keys; the tail then does not change.
  Result<std::string> read(const LogEntry& entry);

 private:
  std::string fault(const LogEntry& entry) const;

  const EntryKeys* keys_;
  LogTail tail_;
};

}  // namespace coffer::store
