// The signature between coffer and a provider, the same in both directions
// (docs/provider-protocol.md).
//
//   Coffer-Timestamp: 1767225600
//   Coffer-Signature: v1=<lower-case hex of HMAC-SHA256(secret,
//   "{timestamp}.{METHOD}.{path}.{body}")>
//
// `path` is the path of the request line without the query; `body` the raw bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/strong.h"

namespace coffer::outbound {

constexpr std::string_view kTimestampHeader = "Coffer-Timestamp";
constexpr std::string_view kSignatureHeader = "Coffer-Signature";
constexpr std::int64_t kSignatureSkewMs = 300'000;

/// The signed content. References texts of the caller.
struct SignedMessage {
  std::string_view method;  // upper case
  std::string_view path;
  std::string_view body;
};

using ProviderHeaders = std::vector<std::pair<std::string, std::string>>;

/// Both headers, with one signature per secret, so that during a rotation either side may change
/// first.
ProviderHeaders sign(std::span<const Secret> secrets, Timestamp now, const SignedMessage& message);
ProviderHeaders sign(const Secret& secret, Timestamp now, const SignedMessage& message);

/// Verifies a received message. `timestamp` and `signatures` are the header values, nullptr if
/// absent. `unauthorized` unless one of the signatures was made with one of the secrets and the
/// timestamp is within kSignatureSkewMs of `now`. Compares in constant time. Ignores versions other
/// than v1.
Result<void> verify(std::span<const Secret> secrets, Timestamp now, const std::string* timestamp,
                    const std::string* signature, const SignedMessage& message);
Result<void> verify(const Secret& secret, Timestamp now, const std::string* timestamp,
                    const std::string* signature, const SignedMessage& message);

}  // namespace coffer::outbound
