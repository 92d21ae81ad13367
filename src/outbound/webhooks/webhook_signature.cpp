#include "outbound/webhooks/webhook_signature.h"

#include "base/check.h"
#include "base/digest.h"
#include "base/text/join.h"

namespace coffer::outbound {
namespace {

constexpr std::string_view kSecretPrefix = "whsec_";

std::string key_of(const Secret& secret) {
  std::string_view text = secret.reveal();
  COFFER_CHECK(text.starts_with(kSecretPrefix));
  auto key = from_base64(text.substr(kSecretPrefix.size()));
  COFFER_CHECK(key.has_value());
  return *std::move(key);
}

}  // namespace

std::string svc_signature(std::string_view webhook_id, std::string_view body) {
  return "sha256=" + to_hex(hmac_sha256(webhook_id, body));
}

std::string standard_signature(const Secret& secret, std::string_view webhook_id,
                               std::int64_t timestamp_s, std::string_view body) {
  std::string signed_text(webhook_id);
  signed_text.append(".").append(std::to_string(timestamp_s)).append(".").append(body);
  return "v1," + to_base64(as_text(hmac_sha256(key_of(secret), signed_text)));
}

std::string standard_signatures(const std::vector<Secret>& secrets, std::string_view webhook_id,
                                Timestamp sent_at, std::string_view body) {
  return join(secrets, " ", [&](const Secret& secret) {
    return standard_signature(secret, webhook_id, sent_at.ms / 1'000, body);
  });
}

std::vector<std::pair<std::string, std::string>> attempt_headers(std::string_view webhook_id,
                                                                 Timestamp sent_at,
                                                                 std::string_view body,
                                                                 std::string_view signatures) {
  return {{"X-Webhook-Id", std::string(webhook_id)},
          {"X-Webhook-Ts", std::to_string(sent_at.ms)},
          {"X-Svc-Signature", svc_signature(webhook_id, body)},
          {"webhook-id", std::string(webhook_id)},
          {"webhook-timestamp", std::to_string(sent_at.ms / 1'000)},
          {"webhook-signature", std::string(signatures)},
          {"Content-Type", "application/json"},
          {"User-Agent", "coffer-webhooks/1"}};
}

std::vector<std::pair<std::string, std::string>> delivery_headers(
    std::string_view webhook_id, Timestamp sent_at, std::string_view body,
    const std::vector<Secret>& secrets) {
  return attempt_headers(webhook_id, sent_at, body,
                         standard_signatures(secrets, webhook_id, sent_at, body));
}

}  // namespace coffer::outbound
