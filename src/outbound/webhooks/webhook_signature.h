// The signatures of a delivery (docs/contract.md#delivery; Standard Webhooks).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/strong.h"

namespace coffer::outbound {

/// `sha256=` and the lower-case hex HMAC-SHA256 over the raw body, keyed by the X-Webhook-Id value.
/// The key is sent with it, so this signature of the contract proves integrity only.
std::string svc_signature(std::string_view webhook_id, std::string_view body);

/// `v1,` and the base64 HMAC-SHA256 over `id.timestamp.body`. `secret` is the endpoint's
/// `whsec_...` text; the part after the prefix is base64.
std::string standard_signature(const Secret& secret, std::string_view webhook_id,
                               std::int64_t timestamp_s, std::string_view body);

/// The value of webhook-signature: one signature per secret.
std::string standard_signatures(const std::vector<Secret>& secrets, std::string_view webhook_id,
                                Timestamp sent_at, std::string_view body);

/// All headers of an attempt that coffer sets: X-Webhook-Id, X-Webhook-Ts, X-Svc-Signature,
/// webhook-id, webhook-timestamp, webhook-signature, Content-Type and User-Agent. Only the
/// timestamp and `signatures` differ between the attempts of a delivery.
std::vector<std::pair<std::string, std::string>> attempt_headers(std::string_view webhook_id,
                                                                 Timestamp sent_at,
                                                                 std::string_view body,
                                                                 std::string_view signatures);
/// The same headers, with signatures computed from these secrets.
std::vector<std::pair<std::string, std::string>> delivery_headers(
    std::string_view webhook_id, Timestamp sent_at, std::string_view body,
    const std::vector<Secret>& secrets);

}  // namespace coffer::outbound
