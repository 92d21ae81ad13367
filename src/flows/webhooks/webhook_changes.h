// Registration and changes of webhooks (docs/contract.md#webhooks). Both route families use these
// functions, so the limit of one webhook per event type applies across them.
#pragma once

#include <optional>
#include <string>

#include "base/strong.h"
#include "domain/webhooks/event_type.h"
#include "flows/context.h"
#include "store/webhooks/webhooks.h"

namespace coffer::flows {

struct NewWebhook {
  std::int64_t application = 0;  // row key of the application that registers it
  std::string url;
  std::optional<std::string> description;
  EventTypeSet types;
};

/// A webhook with its secret in plain text, which is shown once.
struct WebhookWithSecret {
  store::WebhookRow webhook;
  Secret secret;
};

/// Subscribes to later events. `webhook-target-refused`; `webhook-event-type-taken` with every type
/// that another active webhook has.
Result<WebhookWithSecret> register_webhook(const Context& context, const Tenant& tenant,
                                           const NewWebhook& webhook);

/// Identifies a webhook. With `application`, only a webhook of this application that the
/// application has not removed.
struct WebhookRef {
  Tenant tenant;
  WebhookId id;
  std::optional<std::int64_t> application;
};
/// `not-found`.
Result<store::WebhookRow> required_webhook(store::Connection& db, const WebhookRef& ref);
/// Also `conflict` if it is disabled.
Result<store::WebhookRow> active_webhook(store::Connection& db, const WebhookRef& ref);

struct WebhookUpdate {
  std::optional<std::string> url;  // a new one ends a pause; pending deliveries are due at once
  std::optional<std::optional<std::string>> description;  // an empty description removes it
  std::optional<EventTypeSet> types;
};
/// Problems of register_webhook, `not-found`, and `conflict` if it is disabled.
Result<store::WebhookRow> update_webhook(const Context& context, const WebhookRef& ref,
                                         const WebhookUpdate& update);

/// Permanent; emits the event `webhook.disabled`. Pending deliveries become dead. If the webhook is
/// already disabled, returns it unchanged.
Result<store::WebhookRow> disable_webhook(const Context& context, const WebhookRef& ref);
/// The same inside a command, for an active webhook.
void disable_in(store::WriteTx& tx, Random& random, const store::WebhookRow& webhook,
                DisableReason reason);

/// Creates a new secret. The previous one also signs for `grace_s` seconds; an older one becomes
/// invalid.
Result<WebhookWithSecret> rotate_webhook_secret(const Context& context, const WebhookRef& ref,
                                                std::int64_t grace_s);

/// The context for which a webhook's secrets are sealed.
std::string webhook_secret_context(WebhookId id);

/// The signing secret of `coffer listen` for a tenant, as `whsec_...`. It is created on first use,
/// sealed in the file and never changes, so that a developer configures it in a consumer once.
Result<Secret> listener_secret(const Context& context, const Tenant& tenant);

}  // namespace coffer::flows
