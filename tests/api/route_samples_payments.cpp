// Objects that payments through providers and to beneficiaries refer to.
#include <catch2/catch.hpp>

#include "outbound/providers/provider_signature.h"
#include "route_samples.h"
#include "store/identity/tenants.h"
#include "store/ledger/wallets.h"
#include "store/providers/references.h"
#include "support/connectors.h"
#include "support/recipients.h"

namespace coffer::test {
namespace {

constexpr const char* kSecret = "shared";

flows::NewConnector bespoke() {
  flows::NewConnector connector = collection_connector();
  connector.terms.flow = ConnectorFlow::bespoke;
  connector.terms.issues_references = true;
  return connector;
}

void at_provider(ConnectorTerms& terms, const std::string& url) {
  terms.driver = DriverKind::http;
  terms.endpoint = ProviderEndpoint{url, Secret(kSecret), 50};
}

void renew(TestApp& app, const Client& client, Names& names) {
  names["recipient"] = add_recipient(client);
  names["cashQuote"] = quote_for(client, names.at("payouts"), names.at("recipient")).at("quoteId");
  names["collectQuote"] = collection_quote(client, names.at("collections")).at("quoteId");
  const std::string recipient = add_recipient(client, "1201");
  const Json stuck = quote_for(client, names.at("payouts"), recipient, "1");
  names["stuck"] =
      client.pay("/v1/payments/offramp", cash_out_body(stuck, names.at("wallet"), recipient));
  names["customer"] = "customer-" + names.at("stuck") + "-x";
  names["arrival"] = "arrival-" + names.at("stuck");
  app.settle();
}

void renew_reversible(TestApp& app, const Client& client, Names& names) {
  names["reversible"] = client.transfer(names.at("wallet"), names.at("second"), "1");
  app.settle();
}

}  // namespace

void add_payment_samples(TestApp& app, const Client& client, Names& names) {
  const Json wallet = client.get("/v1/wallets/" + names.at("second")).json();
  names["settlementAccount"] = wallet.at("publicKey");
  names["toAddress"] = add_ledger_recipient(client, wallet.at("publicKey"));
  names["toEurc"] = add_ledger_recipient(client, wallet.at("publicKey"), "EURC");
  names["payouts"] = add_connector(app);
  names["collections"] = add_connector(app, collection_connector());
  names["bespoke"] = add_connector(app, bespoke());
  names["provider"] = add_connector(
      app, [](ConnectorTerms& terms) { at_provider(terms, "http://127.0.0.1:1/"); }, bespoke());
  names["customer"] = "customer-" + names.at("second");
  names["reference"] =
      client
          .post("/v1/onramp/references", {{"connectorId", names.at("bespoke")},
                                          {"settlementAccount", names.at("settlementAccount")},
                                          {"customerId", names.at("customer")}})
          .json()
          .at("reference");
  names["arrival"] = "arrival-" + names.at("second");
  renew_reversible(app, client, names);
  renew(app, client, names);
}

void add_fresh_payment_samples(TestApp& app, const Client& client, Names& names,
                               const Sample& sample) {
  if (sample.refers_to("reversible")) renew_reversible(app, client, names);
  for (const char* name : {"cashQuote", "collectQuote", "stuck", "customer", "arrival"}) {
    if (sample.refers_to(name)) return renew(app, client, names);
  }
}

void add_late_providers(TestApp& app, const std::string& url, Names& names) {
  names["collections"] = add_connector(
      app, [&](ConnectorTerms& terms) { at_provider(terms, url); }, collection_connector());
  names["bespoke"] = add_connector(
      app, [&](ConnectorTerms& terms) { at_provider(terms, url); }, bespoke());
  names["customer"] = "customer-of-a-late-one";
}

HttpCall signed_callback(TestApp& app, const Names& names, const std::string& body) {
  HttpCall call{"POST", "/v1/providers/" + names.at("provider") + "/callbacks", {}, body};
  for (const auto& [name, value] :
       outbound::sign(Secret(kSecret), app.clock.now(), {"POST", call.target, body})) {
    call.headers.emplace_back(name, value);
  }
  return call;
}

void issue_reference(TestApp& app, const Names& names, const std::string& reference) {
  const auto done = app.flows().queue.run([&](store::WriteTx& tx) -> Result<void> {
    const auto application =
        store::find_application(tx.db(), app.me().credentials().application).value();
    const auto connector = store::find_connector(tx.db(), Environment::sandbox,
                                                 *ConnectorId::parse(names.at("provider")));
    const auto wallet = store::find_wallet_brief(tx.db(), *application.tenant,
                                                 *WalletId::parse(names.at("wallet")));
    store::ReferenceRow row;
    row.application = application.key;
    row.connector = connector->terms.key;
    row.wallet = wallet->key;
    row.customer_id = "customer of " + reference;
    row.reference = reference;
    store::insert_reference(tx, *application.tenant, row);
    return {};
  });
  CHECK(done);
}

HttpCall payment_on_reference(TestApp& app, const Names& names, const std::string& reference,
                              const std::string& amount) {
  issue_reference(app, names, reference);
  const Json data{{"providerPaymentId", reference},
                  {"reference", reference},
                  {"amount", amount},
                  {"currencyIsoCode3", "KES"}};
  const Json body{{"id", "c"}, {"type", "reference.paid"}, {"data", data}};
  return signed_callback(app, names, body.dump());
}

}  // namespace coffer::test
