#include "flows/webhooks/webhook_json.h"

namespace coffer::flows {

Json webhook_json(const store::WebhookRow& webhook, std::optional<Timestamp> now) {
  Json types = Json::array();
  for (const EventType type : webhook.types.types()) types.push_back(name(type));
  Json out{{"id", webhook.id.to_string()},
           {"applicationId", webhook.application_id.to_string()},
           {"url", webhook.url},
           {"method", "POST"},
           {"eventTypes", std::move(types)},
           {"description", webhook.description ? Json(*webhook.description) : Json(nullptr)},
           {"environment", name(webhook.tenant.environment)},
           {"status", webhook.is_active() ? "active" : "disabled"}};
  if (webhook.disabled_at) {
    out["disabledReason"] = name(*webhook.disable_reason);
    out["disabledAt"] = webhook.disabled_at->to_string();
  }
  if (webhook.old_secret_until) {
    out["previousSecretValidUntil"] = webhook.old_secret_until->to_string();
  }
  out["consecutiveFailures"] = webhook.failures;
  if (webhook.last_attempt_at) {
    out["lastAttemptAt"] = webhook.last_attempt_at->to_string();
    out["lastResponseStatus"] = webhook.last_status ? Json(*webhook.last_status) : Json(nullptr);
  }
  if (webhook.is_active() && now && *now < webhook.quiet_until) {
    out["pausedUntil"] = webhook.quiet_until.to_string();
  }
  out["createdAt"] = webhook.created_at.to_string();
  out["updatedAt"] = webhook.updated_at.to_string();
  return out;
}

Json credentials_json(const store::ApplicationRow& application, Timestamp rotated_at) {
  return {{"applicationId", application.id.to_string()},
          {"clientId", application.client_id},
          {"rotatedAt", rotated_at.to_string()}};
}

}  // namespace coffer::flows
