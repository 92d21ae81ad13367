#include "support/recipients.h"

#include <catch2/catch.hpp>

#include "domain/payments/compliance.h"

namespace coffer::test {
namespace {

Json created(const Reply& reply) {
  INFO(reply.text());
  REQUIRE(reply.status == 201);
  return reply.json();
}

}  // namespace

std::string add_recipient(const Client& client, const std::string& digits) {
  return created(
             client.post("/v1/beneficiaries",
                         {{"individual",
                           {{"firstName", "Amina"},
                            {"lastName", "Otieno"},
                            {"email", "amina@example.com"},
                            {"phone", "+254712345678"}}},
                          {"paymentDestinations",
                           {{{"method", "MOBILE_MONEY"},
                             {"countryIsoCode2", "KE"},
                             {"currencyIsoCode3", "KES"},
                             {"mobileMoney",
                              {{"provider", "M-Pesa"}, {"phoneNumber", "+25471234" + digits}}}}}}}))
      .at("id");
}

std::string add_ledger_recipient(const Client& client, const std::string& address,
                                 const std::string& asset, const std::string& network) {
  return created(
             client.post("/v1/beneficiaries", {{"business", {{"companyName", "Ledger Partner"}}},
                                               {"paymentDestinations",
                                                {{{"method", "CRYPTO"},
                                                  {"countryIsoCode2", "US"},
                                                  {"currencyIsoCode3", "USD"},
                                                  {"networkName", network},
                                                  {"assetSymbol", asset},
                                                  {"walletAddress", address}}}}}))
      .at("id");
}

Json quote_for(const Client& client, const std::string& connector, const std::string& beneficiary,
               const std::string& amount) {
  return created(client.post(
      "/v1/quotes",
      {{"connectorId", connector}, {"amount", amount}, {"beneficiaryId", beneficiary}}));
}

Json collection_quote(const Client& client, const std::string& connector,
                      const std::string& amount) {
  return created(
      client.post("/v1/quotes?type=onramp", {{"connectorId", connector}, {"amount", amount}}));
}

Json cash_out_body(const Json& quote, const std::string& wallet, const std::string& beneficiary) {
  return {{"transactionId", fresh_transaction_id()},
          {"quoteId", quote.at("quoteId")},
          {"sourceWalletId", wallet},
          {"beneficiaryId", beneficiary},
          {"purposeOfPayment", purpose_of_payment_terms().front().code},
          {"sourceOfFunds", source_of_funds_terms().front().code},
          {"relationship", relationship_terms().front().code}};
}

Json collection_body(const Json& quote, const std::string& wallet, const std::string& account) {
  return {{"transactionId", fresh_transaction_id()},
          {"quoteId", quote.at("quoteId")},
          {"destinationWalletId", wallet},
          {"payer", {{"name", "Joseph Mwangi"}, {"accountNumber", account}}}};
}

}  // namespace coffer::test
