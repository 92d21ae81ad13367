// Beneficiaries for tests, and off-ramps to them.
#pragma once

#include <string>

#include "support/client.h"

namespace coffer::test {

/// ID of a new beneficiary with one Kenyan mobile-money destination whose number ends in `digits`.
std::string add_recipient(const Client& client, const std::string& digits = "5678");
/// ID of a new beneficiary with one CRYPTO destination.
std::string add_ledger_recipient(const Client& client, const std::string& address,
                                 const std::string& asset = "USDC",
                                 const std::string& network = "COFFER");

/// An open off-ramp quote for a beneficiary.
Json quote_for(const Client& client, const std::string& connector, const std::string& beneficiary,
               const std::string& amount = "100");
/// An open on-ramp quote.
Json collection_quote(const Client& client, const std::string& connector,
                      const std::string& amount = "10000");

Json cash_out_body(const Json& quote, const std::string& wallet, const std::string& beneficiary);
Json collection_body(const Json& quote, const std::string& wallet,
                     const std::string& account = "1234567890");

}  // namespace coffer::test
