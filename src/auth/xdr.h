// The part of Stellar's XDR (RFC 4506) that a SEP-10 challenge needs: a version 1 transaction
// envelope that has only manageData operations. Strict: checks lengths, discriminants and padding,
// and rejects trailing bytes. Anything that a challenge does not use is rejected rather than
// skipped: other envelopes, muxed accounts, memos, preconditions other than time bounds, and other
// operations. Stateless; thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/strkey.h"

namespace coffer::auth {

/// EnvelopeType of a TransactionEnvelope, and of what its signatures sign.
inline constexpr std::uint32_t kEnvelopeTypeTx = 2;

struct ManageData {
  PublicKey source;
  std::string name;   // at most 64 bytes
  std::string value;  // at most 64 bytes; a removal, which has no value, is rejected
  bool operator==(const ManageData&) const = default;
};

struct Transaction {
  PublicKey source;
  std::uint32_t fee = 0;
  std::int64_t sequence = 0;
  std::uint64_t min_time_s = 0;
  std::uint64_t max_time_s = 0;
  std::vector<ManageData> operations;  // at most 100, the limit of the protocol
  bool operator==(const Transaction&) const = default;
};

struct DecoratedSignature {
  std::array<std::uint8_t, 4> hint{};  // the last four bytes of the signing key
  std::string signature;               // at most 64 bytes
};

struct Envelope {
  Transaction transaction;
  std::string transaction_xdr;                 // the signed bytes, without the network
  std::vector<DecoratedSignature> signatures;  // at most 20
};

/// The XDR of a Transaction.
std::string write_transaction(const Transaction& transaction);
/// The XDR of a TransactionEnvelope that contains the XDR of a Transaction.
std::string write_envelope(std::string_view transaction_xdr,
                           const std::vector<DecoratedSignature>& signatures);
/// nullopt unless `xdr` is exactly one envelope of this kind.
std::optional<Envelope> read_envelope(std::string_view xdr);

/// The last four bytes of a key.
std::array<std::uint8_t, 4> hint_of(const PublicKey& key);

}  // namespace coffer::auth
