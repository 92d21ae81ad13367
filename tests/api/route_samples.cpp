#include "route_samples.h"

#include <map>

#include "base/check.h"
#include "domain/payments/compliance.h"
#include "flows/webhooks/webhook_changes.h"
#include "support/connectors.h"
#include "support/logins.h"

namespace coffer::test {
namespace {

const std::map<std::string, std::string, std::less<>>& path_values() {
  static const std::map<std::string, std::string, std::less<>> all = {
      {"walletId", "$wallet"},
      {"transactionId", "$record"},
      {"transactionRecordId", "$reversible"},
      {"id", "$association"},
      {"assetCode", "USDC"},
      {"slug", "not-found"},
      {"guide", "contract"},
      {"file", "docs.js"},
      {"beneficiaryId", "$beneficiary"},
      {"destinationId", "$destination"},
      {"associationId", "$association"},
      {"destId", "$destination"},
      {"connectorId", "$connector"},
      {"quoteId", "$quote"},
      {"webhookId", "$webhook"},
      {"deliveryId", "$delivery"},
      {"reference", "$reference"},
      {"eventId", "$event"},
      {"type", "$triggered"},
      {"method", "MOMO"},
      {"direction", "send"},
  };
  return all;
}

const std::map<std::string, std::string, std::less<>>& bodies() {
  static const std::string leg =
      R"("sourceWalletId":"$wallet","destinationWalletId":"$second","sendingAssetCode":"USDC",)"
      R"("amount":"1","fromRef":"FROM-1","toRef":null,"description":"Sample")";
  static const std::string destination =
      R"({"method":"MOMO","countryIsoCode2":"KE","currencyIsoCode3":"KES",)"
      R"("mobileMoney":{"provider":"M-Pesa","phoneNumber":"+254712345678"}})";
  static const std::string beneficiary =
      R"({"individual":{"firstName":"Amina","lastName":"Otieno"},"paymentDestinations":[)" +
      destination + "]}";
  static const std::string to_beneficiary =
      R"("transactionId":"$new","sourceWalletId":"$wallet","sendingAssetCode":"USDC","amount":"1")";
  static const std::string payer = R"("payer":{"name":"Sample"})";
  static const std::map<std::string, std::string, std::less<>> all = {
      {"BeneficiaryTransfer", "{" + to_beneficiary + R"(,"beneficiaryId":"$toAddress"})"},
      {"BeneficiarySwap",
       "{" + to_beneficiary + R"(,"beneficiaryId":"$toEurc","receivingAssetCode":"EURC"})"},
      {"Offramp",
       R"({"transactionId":"$new","quoteId":"$cashQuote","sourceWalletId":"$wallet",)"
       R"("beneficiaryId":"$recipient","purposeOfPayment":"$purpose","sourceOfFunds":"$funds",)"
       R"("relationship":"$relationship"})"},
      {"Onramp",
       R"({"transactionId":"$new","quoteId":"$collectQuote","destinationWalletId":"$wallet",)" +
           payer + "}"},
      {"CashIn", R"({"transactionId":"$new","connectorId":"$collections","amount":"1000",)"
                 R"("destinationWalletId":"$wallet",)" +
                     payer + "}"},
      {"Reversal", R"({"transactionId":"$new","amount":"0.5","reason":"Sample"})"},
      {"NewReference", R"({"connectorId":"$bespoke","settlementAccount":"$settlementAccount",)"
                       R"("customerId":"$customer"})"},
      {"ProviderCallback", R"({"id":"callback","type":"payout.updated","data":{"id":"$record"}})"},
      {"ReferencePayment", R"({"amount":"1000","providerPaymentId":"$arrival"})"},
      {"NewDestination", destination},
      {"NewQuote", R"({"amount":"10","connectorId":"$connector","beneficiaryId":"$beneficiary"})"},
      {"NewConnectQuote", R"({"amount":"10","connectorId":"$connector"})"},
      {"NewBeneficiary", beneficiary},
      {"NewBeneficiaries", R"({"beneficiaries":[)" + beneficiary + "]}"},
      {"BeneficiaryPatch", R"({"tags":["sample"],"paymentDestinations":[)" + destination + "]}"},
      {"TokenRequest", R"({"clientId":"$clientId","clientSecret":"$clientSecret"})"},
      {"OAuthTokenRequest",
       "grant_type=client_credentials&client_id=$clientId&client_secret=$clientSecret"},
      {"SignedChallenge", R"({"transaction":"$challenge"})"},
      {"SignIn", R"({"publicKey":"$publicKey","secret":"$signInSecret"})"},
      {"Refresh", R"({"refreshToken":"$refreshToken"})"},
      {"OtpLogin", R"({"username":"$username","password":"$password","otp":"$otp"})"},
      {"NewWallet", R"({"walletName":"Sample","assetCode":"USDC","ownAccount":true})"},
      {"WalletUpdate", R"({"walletName":"Renamed"})"},
      {"NewTrustline", R"({"assetCode":"KES"})"},
      {"WalletRejection", R"({"code":"sample","message":"Sample."})"},
      {"WalletFunding", R"({"assetCode":"USDC","amount":"1"})"},
      {"NewWebhook",
       R"({"url":"http://127.0.0.1:9/hooks","eventTypes":["wallet.status_changed"]})"},
      {"NewApplicationWebhook",
       R"({"url":"http://127.0.0.1:9/hooks","method":"POST","eventTypes":["webhook.disabled"]})"},
      {"WebhookUpdate", R"({"url":"http://127.0.0.1:9/moved","description":"Sample"})"},
      {"SecretRotation", R"({"gracePeriodSeconds":60})"},
      {"NewRecovery", R"({"from":"2025-12-31T00:00:00Z","to":"2026-02-01T00:00:00Z"})"},
      {"OwnTransfer", R"({"transactionId":"$new",)" + leg + "}"},
      {"MultiTransfer", R"({"transactionId":"$new","transfers":[{)" + leg + "}]}"},
      {"OwnSwap", R"({"transactionId":"$new","receivingAssetCode":"EURC",)" + leg + "}"},
  };
  return all;
}

const std::map<std::string, std::string, std::less<>>& queries() {
  constexpr const char* kRange =
      "?walletId=$wallet&assetCode=USDC&startDate=2026-01-01&endDate=2026-02-01";
  static const std::map<std::string, std::string, std::less<>> all = {
      {"getChallenge", "?account=$publicKey"},
      {"getPaymentRequirements", "?connectorId=$connector&transactionType=B2C"},
      {"getStatement", kRange},
      {"getStatementCsv", kRange},
      {"getStatementNdjson", kRange},
      {"getStatementCamt053", kRange},
  };
  return all;
}

const std::string& found(const std::map<std::string, std::string, std::less<>>& table,
                         std::string_view key, const char* what) {
  const auto it = table.find(key);
  if (it == table.end()) {
    throw InternalError("tests/api/route_samples.cpp has no " + std::string(what) + " `" +
                        std::string(key) + "`");
  }
  return it->second;
}

/// The review needs a pending wallet.
bool reviews(const api::Route& route) {
  return route.operation == "sandboxVerifyWallet" || route.operation == "sandboxRejectWallet";
}

/// These routes decide a payment that is pending at its provider.
bool decides(const api::Route& route) {
  return route.operation == "sandboxSucceedTransaction" ||
         route.operation == "sandboxFailTransaction";
}

/// The only route whose parameter for the beneficiary is `id`.
bool is_beneficiary_id(const api::Route& route, const std::string& name) {
  return route.operation == "replaceDestination" && name == "id";
}

/// The routes whose parameter for the application is `id`.
bool is_application_id(const api::Route& route, const std::string& name) {
  return route.pattern.starts_with("/v1/application/") && name == "id";
}

/// Registers an endpoint without a listener.
std::string new_webhook(const Client& client, const char* type) {
  const Json body{{"url", "http://127.0.0.1:9/hooks"}, {"eventTypes", {type}}};
  return client.post("/v1/webhooks", body).json().at("id");
}

/// A webhook with a delivery in progress, and a disabled one with a failed delivery.
void add_webhooks(TestApp& app, const Client& client, Names& names) {
  names["application"] = client.credentials().application.to_string();
  names["triggered"] = "payment.succeeded";
  names["webhook"] = new_webhook(client, "payment.refunded");
  names["goneWebhook"] = new_webhook(client, "payment.refund_failed");
  const auto test = [&](const char* webhook) {
    const std::string target = "/v1/webhooks/" + names.at(webhook) + "/test";
    return client.send({"POST", target, {}, {}}).json().at("eventId").get<std::string>();
  };
  names["delivery"] = names["event"] = test("webhook");
  names["goneDelivery"] = test("goneWebhook");
  app.deliver();
  // Disabled as by a 410 response: one route family hides a webhook that its owner removed.
  app.core()
      .queue()
      .run([&](store::WriteTx& tx) -> Result<void> {
        const auto association = *AssociationId::parse(names.at("association"));
        const Tenant tenant = *store::find_tenant(tx.db(), association, Environment::sandbox);
        const WebhookId id = *WebhookId::parse(names.at("goneWebhook"));
        flows::disable_in(tx, app.random, *store::find_webhook(tx.db(), tenant, id),
                          DisableReason::endpoint_gone);
        return {};
      })
      .value();
}

std::string path_of(const api::Route& route) {
  std::string path(route.pattern);
  for (auto open = path.find('{'); open != std::string::npos; open = path.find('{')) {
    const auto close = path.find('}', open);
    std::string name = path.substr(open + 1, close - open - 1);
    if (is_beneficiary_id(route, name)) name = "beneficiaryId";
    if (is_application_id(route, name)) {
      path.replace(open, close - open + 1, "$application");
      continue;
    }
    const std::string value = reviews(route) && name == "walletId" ? "$pending"
                              : decides(route)                     ? "$stuck"
                                               : found(path_values(), name, "value for");
    path.replace(open, close - open + 1, value);
  }
  return path;
}

/// Credentials of the login routes. Challenge, refresh token and code can be used once.
void add_logins(TestApp& app, const Client& client, Names& names) {
  const Credentials& own = client.credentials();
  names["publicKey"] = own.public_key;
  names["signInSecret"] = own.sign_in_secret;
  names["refreshToken"] = challenge_login(app, own).at("refreshToken");
  names["challenge"] = signed_challenge(app, own);
  const AssociationId association = *AssociationId::parse(names.at("association"));
  const TestUser user = add_user(app, association, "user-" + own.client_id);
  names["username"] = user.username;
  names["password"] = user.password;
  names["otp"] = user.code(app);
}

/// The same for a user that cannot log in.
void add_rejected_logins(TestApp& app, Names& names) {
  const Credentials suspended = app.register_application(std::nullopt);
  names["challenge"] = signed_challenge(app, suspended);
  flows::suspend_application(app.flows(), suspended.application, true).value();
  names["publicKey"] = auth::generate_key_pair(app.random).public_key.to_string();
  names["signInSecret"] = "si_nobody";
  names["refreshToken"] = "rt_nobody";
  names["username"] = "unknown";
  names["password"] = "nothing";
  names["otp"] = "000000";
}

void add_vocabulary(Names& names) {
  names["purpose"] = purpose_of_payment_terms().front().code;
  names["funds"] = source_of_funds_terms().front().code;
  names["relationship"] = relationship_terms().front().code;
}

}  // namespace

Names belongings_of(TestApp& app, const Client& client) {
  Names names{{"clientId", client.credentials().client_id},
              {"clientSecret", client.credentials().client_secret}};
  add_vocabulary(names);
  for (const char* name : {"wallet", "second"}) {
    names[name] = client.wallet("USDC", "1000");
    client.trustline(names[name], "EURC");
  }
  names["pending"] = client.third_party_wallet("USDC");
  add_beneficiary(client, names);
  names["connector"] = add_connector(app, [](ConnectorTerms& terms) {
    terms.types = 0b1100;  // B2C and B2B
  });
  add_quote(client, names);
  names["record"] = client.transfer(names["wallet"], names["second"], "1");
  names["association"] = client.get("/v1/business/association/all").json()["data"][0]["id"];
  add_logins(app, client, names);
  add_payment_samples(app, client, names);
  app.settle();
  add_webhooks(app, client, names);
  return names;
}

void add_webhook(const Client& client, Names& names, const Sample& sample) {
  if (sample.method != "DELETE" || !sample.refers_to("webhook")) return;
  names["webhook"] = new_webhook(client, "payment.refund_pending");
}

void add_beneficiary(const Client& client, Names& names) {
  const Json made =
      client.post("/v1/beneficiaries", Json::parse(bodies().at("NewBeneficiary"))).json();
  names["beneficiary"] = made.at("id");
  names["destination"] = made.at("paymentDestinations").at(0).at("id");
}

void add_quote(const Client& client, Names& names) {
  names["quote"] = quote(client, names.at("connector")).at("quoteId");
}

Names nobodys_belongings(TestApp& app) {
  Names names{{"clientId", "app_nobody"}, {"clientSecret", "sk_nobody"}};
  for (const std::string& name : owned_names()) {
    names[name] = app.random.uuid_v7(app.clock.now()).to_string();
  }
  // Not owned by a tenant, but does not exist.
  names["connector"] = app.random.uuid_v7(app.clock.now()).to_string();
  for (const char* name : {"payouts", "collections", "bespoke", "provider"}) {
    names[name] = names.at("connector");
  }
  names["settlementAccount"] = auth::generate_key_pair(app.random).public_key.to_string();
  names["customer"] = "unknown";
  names["arrival"] = "nothing";
  add_vocabulary(names);
  names["triggered"] = "payment.nonsense";
  add_rejected_logins(app, names);
  return names;
}

const std::vector<std::string>& owned_names() {
  static const std::vector<std::string> all = {
      "wallet",      "second",      "pending",      "record",    "association",
      "beneficiary", "destination", "quote",        "toAddress", "toEurc",
      "recipient",   "cashQuote",   "collectQuote", "stuck",     "reference",
      "application", "webhook",     "delivery",     "event",     "settlementAccount",
      "reversible"};
  return all;
}

bool Sample::refers_to(const std::string& name) const {
  return (target + body).find("$" + name) != std::string::npos;
}

Sample sample_of(const api::Route& route) {
  Sample sample{std::string(route.method), path_of(route), {}};
  if (route.body == api::Body::form) {
    sample.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
  }
  if (const auto query = queries().find(route.operation); query != queries().end()) {
    sample.target += query->second;
  }
  if (route.body != api::Body::none) {
    sample.body = found(bodies(), route.request_schema, "body of schema");
  }
  return sample;
}

std::string with_query(const std::string& target, const std::string& parameter) {
  return target + (target.find('?') == std::string::npos ? "?" : "&") + parameter;
}

}  // namespace coffer::test
