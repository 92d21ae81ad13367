// coffer webhook: endpoints, their deliveries, and the verification of saved deliveries.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/strong.h"
#include "cli/command.h"

namespace coffer::store {
struct DeliveryRow;
}

namespace coffer::cli {

/// `webhook listen-secret`, for coffer listen: the signing secret, the tenant, and the last
/// sequence.
inline constexpr std::string_view kListenSecretCommand = "webhook listen-secret";

/// The status of the last attempt, or why there was none; nullopt before the first attempt.
std::optional<std::string> last_response(store::Connection& db, const store::DeliveryRow& delivery);

/// A delivery as saved by its receiver. Headers that were not saved are empty.
struct SavedDelivery {
  std::string body;
  std::string webhook_id;         // webhook-id
  std::string webhook_timestamp;  // webhook-timestamp
  std::string webhook_signature;  // webhook-signature
  std::string svc_id;             // X-Webhook-Id
  std::string svc_ts;             // X-Webhook-Ts
  std::string svc_signature;      // X-Svc-Signature

  /// Stores the header with this name; returns false if it is not relevant.
  bool set_header(std::string_view name, std::string_view value);
  bool has_headers() const;
};

struct Verdict {
  std::string_view header;
  bool verified = false;
  std::string reason;  // reason for a failure or success
  bool given = true;   // the header was present
};

/// The result for each signature: Standard Webhooks first, then the contract's. `tolerance_s` is
/// the maximum age of a delivery; `secret` has the form `whsec_...`.
std::vector<Verdict> judge_delivery(const SavedDelivery& delivery, const Secret& secret,
                                    Timestamp now, int tolerance_s);

/// The command; returns its exit code.
int verify_delivery(const Console& console, const Arguments& arguments, const ConfigFlags& flags);

/// `whsec_` followed by base64.
bool is_webhook_secret(std::string_view text);

}  // namespace coffer::cli
