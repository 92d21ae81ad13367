// Connectors for tests: a sandbox off-ramp to Kenyan mobile money, and variants of it.
#pragma once

#include <functional>
#include <string>

#include "flows/providers/connector_changes.h"
#include "support/client.h"

namespace coffer::test {

/// USDC to KES by MOMO in Kenya at 129.5, from 1 to 10,000 USDC, fee 0.50 USDC and 1 %, all types.
flows::NewConnector payout_connector();
/// The reverse: KES collected, USDC received at 0.0075, from 100 to 1,000,000 KES, fee 10 KES and 1
/// %.
flows::NewConnector collection_connector();

/// Registers it and returns its ID; fails the test on error.
std::string add_connector(TestApp& app, const flows::NewConnector& connector = payout_connector());
std::string add_connector(TestApp& app, const std::function<void(ConnectorTerms&)>& change,
                          flows::NewConnector connector = payout_connector());
/// The payout connector at a separate provider.
std::string add_http_connector(TestApp& app, const std::string& base_url, int timeout_ms = 200);
void pause_connector(TestApp& app, const std::string& id);
void set_fee(TestApp& app, AssociationId association, const std::string& connector,
             TransactionType type, const char* fixed, int basis_points);

/// Text as an amount, zero included.
Amount amount(const char* text);

/// A quote of the connector for a transaction type; fails the test on error.
Json quote(const Client& client, const std::string& connector, const std::string& amount = "100",
           const char* type = "B2C");

}  // namespace coffer::test
