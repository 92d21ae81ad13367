// What each group of routes adds to the route table (api/routes.h).
#pragma once

#include <vector>

#include "api/pipeline/route.h"

namespace coffer::api {

/// Liveness and readiness.
std::vector<Route> health_routes();
std::vector<Route> openapi_routes();
std::vector<Route> pages_routes();

/// The business routes of associations; they answer with the response envelope.
std::vector<Route> associations_routes();
/// POST /v1/auth/token in all its accepted forms (docs/contract.md#client-credentials).
std::vector<Route> auth_routes();
/// Routes: challenge login, sign-in, refresh and OTP login (docs/contract.md#authentication).
std::vector<Route> login_routes();
/// What an association uses of its quotas (docs/contract.md#quotas).
std::vector<Route> quotas_routes();

std::vector<Route> assets_routes();
/// Statements with running balance, as JSON page or as a streamed export.
std::vector<Route> statements_routes();
/// Wallets: list, filters, create, read, update, trustlines.
std::vector<Route> wallets_routes();

/// Routes of beneficiaries (docs/contract.md#beneficiaries).
std::vector<Route> beneficiaries_routes();
/// Routes of payment destinations.
std::vector<Route> destinations_routes();

/// What a submission has to say: the vocabularies, and what each connector requires.
std::vector<Route> payment_terms_routes();
std::vector<Route> payments_routes();
/// Quotes: prices for cash-out and collection.
std::vector<Route> quotes_routes();
/// Transaction records: the source of truth for a payment's state.
std::vector<Route> transactions_routes();

/// What payment providers call (docs/provider-protocol.md).
std::vector<Route> callbacks_routes();
/// The Connect group's reads: health of the platform, countries, assets.
std::vector<Route> connect_onramp_routes();
/// The Connect group's reads: health of the platform, countries, assets.
std::vector<Route> connect_routes();
/// Connectors: which providers there are, by corridor.
std::vector<Route> connectors_routes();
/// On-ramp references (docs/contract.md#references).
std::vector<Route> references_routes();

/// What only a sandbox can do: decide a review, make money.
std::vector<Route> sandbox_routes();

/// Events for pollers, and sample events for whoever tries a receiver in the sandbox.
std::vector<Route> events_routes();
std::vector<Route> application_webhooks_routes();
std::vector<Route> deliveries_routes();
std::vector<Route> webhooks_routes();

}  // namespace coffer::api
