#include "route_samples.h"

#include <map>

#include "base/check.h"

namespace coffer::test {
namespace {

const std::map<std::string, std::string, std::less<>>& path_values() {
  static const std::map<std::string, std::string, std::less<>> all = {
      {"walletId", "$wallet"},   {"transactionId", "$record"}, {"id", "$association"},
      {"assetCode", "USDC"},     {"slug", "not-found"},
  };
  return all;
}

const std::map<std::string, std::string, std::less<>>& bodies() {
  static const std::string leg =
      R"("sourceWalletId":"$wallet","destinationWalletId":"$second","sendingAssetCode":"USDC",)"
      R"("amount":"1","fromRef":"FROM-1","toRef":null,"description":"Sample")";
  static const std::map<std::string, std::string, std::less<>> all = {
      {"TokenRequest", R"({"clientId":"$clientId","clientSecret":"$clientSecret"})"},
      {"NewWallet", R"({"walletName":"Sample","assetCode":"USDC","ownAccount":true})"},
      {"WalletUpdate", R"({"walletName":"Renamed"})"},
      {"NewTrustline", R"({"assetCode":"KES"})"},
      {"WalletRejection", R"({"code":"sample","message":"Sample."})"},
      {"WalletFunding", R"({"assetCode":"USDC","amount":"1"})"},
      {"OwnTransfer", R"({"transactionId":"$new",)" + leg + "}"},
      {"MultiTransfer", R"({"transactionId":"$new","transfers":[{)" + leg + "}]}"},
      {"OwnSwap", R"({"transactionId":"$new","receivingAssetCode":"EURC",)" + leg + "}"},
  };
  return all;
}

const std::map<std::string, std::string, std::less<>>& queries() {
  static const std::map<std::string, std::string, std::less<>> all = {
      {"getStatement",
       "?walletId=$wallet&assetCode=USDC&startDate=2026-01-01&endDate=2026-02-01"},
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

/// The review needs a wallet that waits for it.
bool reviews(const api::Route& route) {
  return route.operation == "sandboxVerifyWallet" || route.operation == "sandboxRejectWallet";
}

std::string path_of(const api::Route& route) {
  std::string path(route.pattern);
  for (auto open = path.find('{'); open != std::string::npos; open = path.find('{')) {
    const auto close = path.find('}', open);
    const std::string name = path.substr(open + 1, close - open - 1);
    const std::string value =
        reviews(route) && name == "walletId" ? "$pending" : found(path_values(), name, "value for");
    path.replace(open, close - open + 1, value);
  }
  return path;
}

}  // namespace

Names belongings_of(TestApp& app, const Client& client) {
  Names names{{"clientId", client.credentials().client_id},
              {"clientSecret", client.credentials().client_secret}};
  for (const char* name : {"wallet", "second"}) {
    names[name] = client.wallet("USDC", "1000");
    client.trustline(names[name], "EURC");
  }
  names["pending"] = client.third_party_wallet("USDC");
  names["record"] = client.transfer(names["wallet"], names["second"], "1");
  names["association"] = client.get("/v1/business/association/all").json()["data"][0]["id"];
  app.settle();
  return names;
}

Names nobodys_belongings(TestApp& app) {
  Names names{{"clientId", "app_nobody"}, {"clientSecret", "sk_nobody"}};
  for (const std::string& name : owned_names()) {
    names[name] = app.random.uuid_v7(app.clock.now()).to_string();
  }
  return names;
}

const std::vector<std::string>& owned_names() {
  static const std::vector<std::string> all = {"wallet", "second", "pending", "record",
                                               "association"};
  return all;
}

bool Sample::refers_to(const std::string& name) const {
  return (target + body).find("$" + name) != std::string::npos;
}

Sample sample_of(const api::Route& route) {
  Sample sample{std::string(route.method), path_of(route), {}};
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
