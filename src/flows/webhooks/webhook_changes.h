// Registering endpoints and changing them (docs/contract.md#webhooks). Both route
// families come here, so the rule of one registration per event type holds across them.
#pragma once

#include <optional>
#include <string>

#include "base/strong.h"
#include "domain/webhooks/event_type.h"
#include "flows/context.h"
#include "store/webhooks/webhooks.h"

namespace coffer::flows {

struct NewWebhook {
  std::int64_t application = 0;  // row number of the application it is registered for
  std::string url;
  std::optional<std::string> description;
  EventTypeSet types;
};

/// A registration with its secret in plain text, which is shown once.
struct WebhookWithSecret {
  store::WebhookRow webhook;
  Secret secret;
};

/// Events that happen from now on are delivered. `webhook-target-refused`;
/// `webhook-event-type-taken` naming every type that another active registration has.
Result<WebhookWithSecret> register_webhook(const Context& context, const Tenant& tenant,
                                           const NewWebhook& webhook);

/// Which registration is meant. With `application` only one that was registered for it, and that it
/// has not removed.
struct WebhookRef {
  Tenant tenant;
  WebhookId id;
  std::optional<std::int64_t> application;
};
/// `not-found`.
Result<store::WebhookRow> required_webhook(store::Connection& db, const WebhookRef& ref);
/// Also `conflict` when it is disabled.
Result<store::WebhookRow> active_webhook(store::Connection& db, const WebhookRef& ref);

struct WebhookUpdate {
  std::optional<std::string> url;
  std::optional<std::optional<std::string>> description;  // an empty one removes it
  std::optional<EventTypeSet> types;
};
/// Problems of register_webhook, `not-found`, and `conflict` when it is disabled.
Result<store::WebhookRow> update_webhook(const Context& context, const WebhookRef& ref,
                                         const WebhookUpdate& update);

/// Permanent; with the event `webhook.disabled`. What was still to be sent is dead. Done before:
/// the registration as it is.
Result<store::WebhookRow> disable_webhook(const Context& context, const WebhookRef& ref);
/// The same inside a command, of one that is active.
void disable_in(store::WriteTx& tx, Random& random, const store::WebhookRow& webhook,
                DisableReason reason);

/// A new secret. The one before signs too for `grace_s` seconds, an even older one no more.
Result<WebhookWithSecret> rotate_webhook_secret(const Context& context, const WebhookRef& ref,
                                                std::int64_t grace_s);

/// What a registration's secrets are sealed for.
std::string webhook_secret_context(WebhookId id);

}  // namespace coffer::flows
