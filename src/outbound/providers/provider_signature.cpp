#include "outbound/providers/provider_signature.h"

#include <optional>

#include "base/digest.h"
#include "base/text/next_part.h"
#include "base/text/whole_number.h"

namespace coffer::outbound {
namespace {

constexpr std::string_view kVersion = "v1=";
// A rotation needs two. A higher limit would only let an attacker cause more work.
constexpr int kSignaturesMax = 8;
constexpr std::size_t kTimestampDigitsMax = 12;

std::string signature_of(const Secret& secret, std::string_view timestamp,
                         const SignedMessage& message) {
  std::string text(timestamp);
  for (const std::string_view part : {message.method, message.path, message.body}) {
    text.append(".").append(part);
  }
  return to_hex(hmac_sha256(secret.reveal(), text));
}

std::optional<std::int64_t> parse_seconds(std::string_view text) {
  if (text.size() > kTimestampDigitsMax) return std::nullopt;
  return whole_number<std::int64_t>(text, 0);
}

/// Whether one of the comma-separated signatures is `expected`.
bool has_signature(std::string_view header, std::string_view expected) {
  bool found = false;
  for (int count = 0; !header.empty() && count < kSignaturesMax; ++count) {
    const std::string_view part = next_part(header, ',');
    if (!part.starts_with(kVersion)) continue;
    found |= equal_constant_time(part.substr(kVersion.size()), expected);
  }
  return found;
}

}  // namespace

ProviderHeaders sign(std::span<const Secret> secrets, Timestamp now, const SignedMessage& message) {
  const std::string timestamp = std::to_string(now.ms / 1000);
  std::string signatures;
  for (const Secret& secret : secrets) {
    if (!signatures.empty()) signatures += ",";
    signatures.append(kVersion).append(signature_of(secret, timestamp, message));
  }
  return {{std::string(kTimestampHeader), timestamp}, {std::string(kSignatureHeader), signatures}};
}

ProviderHeaders sign(const Secret& secret, Timestamp now, const SignedMessage& message) {
  return sign(std::span(&secret, 1), now, message);
}

Result<void> verify(std::span<const Secret> secrets, Timestamp now, const std::string* timestamp,
                    const std::string* signature, const SignedMessage& message) {
  if (timestamp == nullptr || signature == nullptr) {
    return unexpected(Slug::unauthorized,
                      "The signature is missing. Send Coffer-Timestamp and Coffer-Signature.");
  }
  const auto seconds = parse_seconds(*timestamp);
  if (!seconds || std::abs(*seconds * 1000 - now.ms) > kSignatureSkewMs) {
    return unexpected(Slug::unauthorized,
                      "Coffer-Timestamp differs by more than 300 s from the time of this server. "
                      "Check the clock.");
  }
  bool good = false;
  for (const Secret& secret : secrets) {
    if (secret.empty()) continue;
    good |= has_signature(*signature, signature_of(secret, *timestamp, message));
  }
  if (good) return {};
  return unexpected(Slug::unauthorized, "Coffer-Signature does not match the request.");
}

Result<void> verify(const Secret& secret, Timestamp now, const std::string* timestamp,
                    const std::string* signature, const SignedMessage& message) {
  return verify(std::span(&secret, 1), now, timestamp, signature, message);
}

}  // namespace coffer::outbound
