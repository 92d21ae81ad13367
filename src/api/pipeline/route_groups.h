// The groups of routes in the route table (api/pipeline/routes.h).
#pragma once

#include <vector>

#include "api/pipeline/route.h"

namespace coffer::api {

/// Liveness and readiness.
std::vector<Route> health_routes();
std::vector<Route> openapi_routes();
std::vector<Route> pages_routes();

/// Business routes of associations, which respond with their envelope.
std::vector<Route> associations_routes();
/// Tokens for client credentials, as JSON and as OAuth 2 (docs/contract.md#client-credentials).
std::vector<Route> auth_routes();
/// Challenge login, sign-in, refresh and OTP login (docs/contract.md#authentication).
std::vector<Route> login_routes();
/// Quotas of an association (docs/contract.md#quotas).
std::vector<Route> quotas_routes();

std::vector<Route> assets_routes();
/// Statements with running balance, as a JSON page or a streamed export.
std::vector<Route> statements_routes();
/// Wallets: list, filters, create, read, update, trustlines.
std::vector<Route> wallets_routes();

/// Beneficiaries (docs/contract.md#beneficiaries).
std::vector<Route> beneficiaries_routes();
/// Payment destinations.
std::vector<Route> destinations_routes();

/// Vocabularies, and the fields that each connector requires.
std::vector<Route> payment_terms_routes();
std::vector<Route> payments_routes();
/// Quotes: prices for off-ramps and on-ramps.
std::vector<Route> quotes_routes();
/// Reversals of payments that have succeeded (docs/contract.md#refunds).
std::vector<Route> reversals_routes();
/// Transaction records, which are authoritative for the state of a payment.
std::vector<Route> transactions_routes();

/// Callbacks from payment providers (docs/provider-protocol.md).
std::vector<Route> callbacks_routes();
/// On-ramps of the Connect group.
std::vector<Route> connect_onramp_routes();
/// Reads of the Connect group: health of the platform, countries, assets.
std::vector<Route> connect_routes();
/// Connectors.
std::vector<Route> connectors_routes();
/// On-ramp references (docs/contract.md#references).
std::vector<Route> references_routes();

/// Sandbox routes: review decisions, funding and simulated results.
std::vector<Route> sandbox_routes();

/// Events for polling, and sample events in the sandbox.
std::vector<Route> events_routes();
std::vector<Route> application_webhooks_routes();
std::vector<Route> deliveries_routes();
std::vector<Route> webhooks_routes();

}  // namespace coffer::api
