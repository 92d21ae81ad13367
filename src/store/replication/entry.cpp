#include "store/replication/entry.h"

#include "base/crypto/aead.h"
#include "base/numbers.h"

namespace coffer::store {
namespace {

// One label per purpose.
constexpr std::string_view kEntrySealLabel = "entry seal v1";
constexpr std::string_view kEntryChainLabel = "entry chain v1";
constexpr std::string_view kLedgerLabel = "ledger name v1";
constexpr std::size_t kLedgerBytes = 16;

std::string key_for(const Secret& root, std::string_view label) {
  return std::string(as_text(hmac_sha256(root.reveal(), label)));
}

constexpr char kEntryFormat = 1;
constexpr std::size_t kPlaceBytes = 16;
constexpr std::size_t kEntryHeadBytes = 2 + kPlaceBytes + 32;

std::string head_of(const LogPosition& at, EntryKind kind) {
  return to_bytes(at) + static_cast<char>(kind);
}

}  // namespace

std::string to_bytes(const LogPosition& at) { return eight_bytes(at.seq) + eight_bytes(at.epoch); }

LogPosition position_from(std::string_view bytes) {
  return {number_at(bytes), number_at(bytes, 8)};
}

std::string to_bytes(const LogEntry& entry) {
  return std::string{kEntryFormat, static_cast<char>(entry.kind)} + to_bytes(entry.at) +
         std::string(as_text(entry.digest)) + entry.payload;
}

std::optional<LogEntry> entry_from(std::string_view bytes) {
  if (bytes.size() < kEntryHeadBytes || bytes[0] != kEntryFormat) return {};
  return LogEntry{position_from(bytes.substr(2)), static_cast<EntryKind>(bytes[1]),
                  *sha256_from(bytes.substr(2 + kPlaceBytes, 32)),
                  std::string(bytes.substr(kEntryHeadBytes))};
}

EntryKeys::EntryKeys(const Secret& root)
    : seal_(key_for(root, kEntrySealLabel)),
      chain_(key_for(root, kEntryChainLabel)),
      ledger_(to_hex(key_for(root, kLedgerLabel).substr(0, kLedgerBytes))) {}

std::string EntryKeys::seal(const LogPosition& at, EntryKind kind, std::string_view plain,
                            Random& random) const {
  const std::string head = head_of(at, kind);
  return encrypted(as_text(seal_.of(head)), random.bytes(kAeadNonceBytes), plain, head);
}

std::optional<std::string> EntryKeys::open(const LogEntry& entry) const {
  const std::string head = head_of(entry.at, entry.kind);
  return decrypted(as_text(seal_.of(head)), entry.payload, head);
}

Sha256 EntryKeys::digest(const Sha256& previous, const LogEntry& entry) const {
  return chain_.of(std::string(as_text(previous)) + head_of(entry.at, entry.kind), entry.payload);
}

LogEntry EntryChain::append(EntryKind kind, std::string_view plain, Random& random) {
  LogEntry out;
  out.at = {tail_.at.seq + 1, tail_.at.epoch + (kind == EntryKind::takeover ? 1 : 0)};
  out.kind = kind;
  out.payload = keys_->seal(out.at, kind, plain, random);
  out.digest = keys_->digest(tail_.digest, out);
  tail_ = {out.at, out.digest};
  return out;
}

std::string EntryChain::fault(const LogEntry& entry) const {
  if (entry.at.seq != tail_.at.seq + 1) {
    return "entry " + std::to_string(tail_.at.seq + 1) + " is missing before it";
  }
  const bool begins = entry.kind == EntryKind::takeover;
  if (begins ? entry.at.epoch <= tail_.at.epoch : entry.at.epoch != tail_.at.epoch) {
    return "its epoch " + std::to_string(entry.at.epoch) + " does not follow epoch " +
           std::to_string(tail_.at.epoch);
  }
  if (keys_->digest(tail_.digest, entry) != entry.digest) {
    return "its digest does not continue the chain: it was changed, or written with another master "
           "key";
  }
  return {};
}

Result<std::string> EntryChain::read(const LogEntry& entry) {
  std::string why = fault(entry);
  std::optional<std::string> plain;
  if (why.empty()) plain = keys_->open(entry);
  if (why.empty() && !plain) why = "it cannot be unsealed";
  if (!why.empty()) {
    return unexpected(Slug::validation_failed, "Entry " + std::to_string(entry.at.seq) +
                                                   " of the log is rejected: " + why + ".");
  }
  tail_ = {entry.at, entry.digest};
  return *std::move(plain);
}

}  // namespace coffer::store
