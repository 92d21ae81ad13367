// Connectors for tests: a sandbox cash-out to Kenyan mobile money, and what a test changes about
// it.
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

/// Registers it and gives its id; fails the test when that does not work.
std::string add_connector(TestApp& app, const flows::NewConnector& connector = payout_connector());
std::string add_connector(TestApp& app, const std::function<void(ConnectorTerms&)>& change,
                          flows::NewConnector connector = payout_connector());
/// The payout connector at a provider of its own.
std::string add_http_connector(TestApp& app, const std::string& base_url, int timeout_ms = 200);
void pause_connector(TestApp& app, const std::string& id);
void set_fee(TestApp& app, AssociationId association, const std::string& connector,
             TransactionType type, const char* fixed, int basis_points);

/// Text as an amount, zero included.
Amount amount(const char* text);

/// A quote by the connector for a transaction type; fails the test when there is none.
Json quote(const Client& client, const std::string& connector, const std::string& amount = "100",
           const char* type = "B2C");

}  // namespace coffer::test
