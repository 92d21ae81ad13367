// coffer webhook: endpoints and what was delivered to them, and whether a delivery is genuine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/strong.h"
#include "cli/command.h"
#include "store/webhooks/webhooks.h"

namespace coffer::cli {

/// `webhook listen-secret`, for coffer listen: what it signs with, for whom, and the last sequence.
inline constexpr std::string_view kListenSecretCommand = "webhook listen-secret";

/// What commands say of a webhook.
Record webhook_record(const store::WebhookRow& row);
/// The webhook that ID names, of any tenant. `not-found`.
Result<store::WebhookRow> found_webhook(Session& session, const Arguments& arguments);
/// create, update, rotate and delivery.
std::vector<Command> webhook_change_commands();

/// One delivery as its receiver saved it. Headers that were not saved are empty.
struct SavedDelivery {
  std::string body;
  std::string webhook_id;         // webhook-id
  std::string webhook_timestamp;  // webhook-timestamp
  std::string webhook_signature;  // webhook-signature
  std::string svc_id;             // X-Webhook-Id
  std::string svc_ts;             // X-Webhook-Ts
  std::string svc_signature;      // X-Svc-Signature

  /// Takes over what `name` is the header of; false when it is of no interest.
  bool set_header(std::string_view name, std::string_view value);
  bool has_headers() const;
};

struct Verdict {
  std::string_view header;
  bool verified = false;
  std::string reason;  // of either
  bool given = true;   // the header was there to be judged
};

/// What each signature proves, of Standard Webhooks first, then of the contract. `tolerance_s`: how
/// old a delivery may be; `secret` as `whsec_...`.
std::vector<Verdict> judge_delivery(const SavedDelivery& delivery, const Secret& secret,
                                    Timestamp now, int tolerance_s);

/// The command; returns its exit code.
int verify_delivery(const Console& console, const Arguments& arguments, const ConfigFlags& flags);

/// `whsec_` and base64 behind it.
bool is_webhook_secret(std::string_view text);

}  // namespace coffer::cli
