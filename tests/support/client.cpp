#include "support/client.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/check.h"
#include "http/gate.h"
#include "support/exchange_log.h"
#include "support/served.h"
#include "support/test_app.h"
#include "support/wire.h"

namespace coffer::test {
namespace {

Json expect(const Reply& reply, int status) {
  INFO(reply.text());
  REQUIRE(reply.status == status);
  return reply.json();
}

void add_missing(HeaderList& headers, const std::string& name, const std::string& value) {
  const bool there = std::any_of(headers.begin(), headers.end(), [&](const auto& header) {
    return http::same_name(header.first, name);
  });
  if (!there) headers.emplace_back(name, value);
}

/// As the listener would pass it: read by the same gate and library.
http::Request request_of(const HttpCall& call, const std::string& minted_id) {
  std::string head = call.method + " " + call.target + " HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  for (const auto& [name, value] : call.headers) head += name + ": " + value + "\r\n";
  head += "\r\n";
  http::GateProgress progress;
  auto result = http::inspect_header(head, {}, progress);
  auto* passed = std::get_if<http::RequestHead>(&result);
  // A request that the gate rejects must be sent over the wire.
  if (passed == nullptr) throw InternalError("the gate rejects " + call.target);
  passed->content_length = 0;
  passed->chunked = false;
  if (passed->request_id.empty()) passed->request_id = minted_id;
  http::Request request;
  serve(head, *passed, [&](http::Request& seen) {
    request = std::move(seen);
    return http::Response();
  });
  request.body = call.body;
  request.peer = "127.0.0.1";
  return request;
}

Reply in_process(TestApp& app, const HttpCall& call, const Problem* problem = nullptr) {
  http::Request request = request_of(call, app.random.uuid_v7(app.clock.now()).to_string());
  const api::Pipeline& pipeline = app.core().pipeline();
  http::Response response =
      problem != nullptr ? pipeline.render(*problem, request) : pipeline.handle(request);
  Reply reply{response.status, response.headers, std::move(response.body)};
  if (!response.content_type.empty()) {
    reply.headers.emplace_back("Content-Type", response.content_type);
  }
  if (call.method == "HEAD") {
    reply.body.clear();
  } else if (response.stream) {
    reply.body.clear();
    const bool whole = response.stream([&](std::string_view piece) {
      reply.body += piece;
      return true;
    });
    CHECK(whole);
  }
  return reply;
}

}  // namespace

Client::Client(TestApp& app, Credentials credentials, const std::string& scope)
    : app_(&app), credentials_(std::move(credentials)) {
  Json body = token_request();
  if (!scope.empty()) body["scope"] = scope;
  const Json token = expect(Client(app).post("/v1/auth/token", body), 200);
  headers_ = {{"x-svc-auth", credentials_.api_key},
              {"Authorization", "Bearer " + token.at("accessToken").get<std::string>()}};
  auto claims = app.flows().tokens.verify(this->token(), app.clock.now()).value();
  claims.kind = auth::TokenKind::id;
  claims.account = credentials_.public_key;
  connect_headers_ = {{"x-svc-auth", credentials_.connect_secret},
                      {"Authorization", "Bearer " + app.flows().tokens.issue(claims)}};
}

const HeaderList& Client::headers_for(std::string_view target) const {
  if (target.starts_with("/gw/")) target.remove_prefix(3);
  return target.starts_with("/v1/connect-") ? connect_headers_ : headers_;
}

std::string Client::token() const {
  for (const auto& [name, value] : headers_) {
    if (name == "Authorization") return value.substr(std::string_view("Bearer ").size());
  }
  return {};
}

Json Client::token_request() const {
  return {{"clientId", credentials_.client_id}, {"clientSecret", credentials_.client_secret}};
}

Client Client::with(const std::string& name, const std::string& value) const {
  Client copy = without(name);
  copy.headers_.emplace_back(name, value);
  copy.connect_headers_.emplace_back(name, value);
  return copy;
}

Client Client::without(std::string_view name) const {
  Client copy = *this;
  for (HeaderList* list : {&copy.headers_, &copy.connect_headers_}) {
    std::erase_if(*list, [&](const auto& header) { return http::same_name(header.first, name); });
  }
  return copy;
}

Client Client::over_wire() const {
  Client copy = *this;
  copy.wire_ = true;
  return copy;
}

Reply Client::send(HttpCall call) const {
  for (const auto& [name, value] : headers_for(call.target)) {
    add_missing(call.headers, name, value);
  }
  if (!call.body.empty()) add_missing(call.headers, "Content-Type", "application/json");
  const Reply reply =
      wire_ ? send_over_wire(app_->core().listeners().port(), call) : in_process(*app_, call);
  observe(call, reply);
  return reply;
}

Reply Client::rejected(const HttpCall& call, const Problem& problem) const {
  const Reply reply = in_process(*app_, call, &problem);
  observe(call, reply);
  return reply;
}

std::string Client::wallet(const std::string& asset, const std::string& amount) const {
  const Json created =
      expect(post("/v1/wallets",
                  {{"walletName", "Own " + asset}, {"assetCode", asset}, {"ownAccount", true}}),
             201);
  std::string id = created.at("id");
  if (!amount.empty()) fund(id, asset, amount);
  return id;
}

std::string Client::third_party_wallet(const std::string& asset,
                                       const std::string& last_name) const {
  return expect(post("/v1/wallets", {{"walletName", "Third party"},
                                     {"assetCode", asset},
                                     {"metadata", person(last_name)}}),
                201)
      .at("id");
}

void Client::trustline(const std::string& wallet, const std::string& asset) const {
  expect(post("/v1/wallets/" + wallet + "/trustlines", {{"assetCode", asset}}), 201);
}

void Client::fund(const std::string& wallet, const std::string& asset,
                  const std::string& amount) const {
  expect(
      post("/v1/sandbox/wallets/" + wallet + "/fund", {{"assetCode", asset}, {"amount", amount}}),
      200);
}

std::string Client::pay(const std::string& target, const Json& body) const {
  return expect(post(target, body), 202).at("transactionRecordId");
}

std::string Client::transfer(const std::string& from, const std::string& to,
                             const std::string& amount, const std::string& asset) const {
  return pay("/v1/payments/p2p/own", transfer_body(from, to, amount, asset));
}

Json Client::record(const std::string& id) const {
  return expect(get("/v1/transactions/" + id), 200);
}

Json Client::balances(const std::string& wallet, const std::string& asset) const {
  const Json found = expect(get("/v1/wallets/" + wallet), 200);
  for (const Json& balance : found.at("balances")) {
    if (balance.at("assetCode") == asset) return balance;
  }
  FAIL("wallet " << wallet << " holds no " << asset);
  return {};
}

std::string Client::funds(const std::string& wallet, const std::string& asset) const {
  const Json balance = balances(wallet, asset);
  return balance.at("balance").get<std::string>() + "/" +
         balance.at("available").get<std::string>() + "/" + balance.at("held").get<std::string>();
}

std::string Client::balance(const std::string& wallet, const std::string& asset) const {
  return balances(wallet, asset).at("balance");
}

std::vector<Json> Client::all(const std::string& target) const {
  std::vector<Json> rows;
  const std::string joint = target.find('?') == std::string::npos ? "?" : "&";
  for (std::string page = target; !page.empty();) {
    const Json reply = expect(get(page), 200);
    for (const Json& row : reply.at("data")) rows.push_back(row);
    const Json& next = reply.at("nextCursor");
    page = next.is_null() ? "" : target + joint + "cursor=" + next.get<std::string>();
  }
  return rows;
}

std::string fresh_transaction_id() {
  static int drawn = 0;
  return "tx-" + std::to_string(++drawn);
}

Json transfer_body(const std::string& from, const std::string& to, const std::string& amount,
                   const std::string& asset) {
  return {{"transactionId", fresh_transaction_id()},
          {"sourceWalletId", from},
          {"destinationWalletId", to},
          {"sendingAssetCode", asset},
          {"amount", amount}};
}

Json swap_body(const std::string& from, const std::string& to, const std::string& amount,
               const std::string& sell, const std::string& buy) {
  Json body = transfer_body(from, to, amount, sell);
  body["receivingAssetCode"] = buy;
  return body;
}

Json multi_body(const std::vector<Json>& legs) {
  Json transfers = Json::array();
  for (Json leg : legs) {
    leg.erase("transactionId");
    transfers.push_back(std::move(leg));
  }
  return {{"transactionId", fresh_transaction_id()}, {"transfers", std::move(transfers)}};
}

Json person(const std::string& last_name) {
  return {{"entityType", "Person"},
          {"firstName", "Wairimu"},
          {"lastName", last_name},
          {"dateOfBirth", "1990-02-28"},
          {"nationality", "KE"}};
}

Json business(const std::string& company_name) {
  return {{"entityType", "Business"},
          {"companyName", company_name},
          {"registrationNumber", "PVT-123"},
          {"registrationCountry", "KEN"}};
}

std::vector<std::string> member_of_each(const std::vector<Json>& rows, const char* name) {
  std::vector<std::string> out;
  for (const Json& row : rows) out.push_back(row.at(name));
  return out;
}

}  // namespace coffer::test
