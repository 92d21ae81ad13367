// One application as a client of the API: its credentials, a token, and frequent operations of
// tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flows/identity/tenancy_changes.h"
#include "support/http_call.h"

namespace coffer::test {

class TestApp;

/// The credentials from registration, in plain text.
struct Credentials {
  ApplicationId application;
  std::string client_id;
  std::string client_secret;
  std::string api_key;
  std::string connect_secret = {};
  std::string sign_in_secret = {};
  std::string public_key = {};
  std::string secret_seed = {};
};

/// A value: copies with another header, token or scope are cheap. Runs in-process unless
/// `over_wire()`.
class Client {
 public:
  /// Sends no credentials.
  explicit Client(TestApp& app) : app_(&app) {}
  /// Requests a token, with these scopes if given; fails the test on error.
  Client(TestApp& app, Credentials credentials, const std::string& scope = {});

  const Credentials& credentials() const { return credentials_; }
  std::string token() const;
  /// The body of a JSON token call with these credentials.
  Json token_request() const;
  /// A new token with these scopes only.
  Client scoped(const std::string& scope) const { return {*app_, credentials_, scope}; }
  Client with(const std::string& name, const std::string& value) const;
  Client without(std::string_view name) const;
  /// Through the listener; call `TestApp::listen()` first.
  Client over_wire() const;

  /// On the Connect group (`/v1/connect-...`): with the connect secret, and an idToken with the
  /// scopes of the token. Adds default headers that the call does not have, and Content-Type if
  /// there is a body.
  Reply send(HttpCall call) const;
  /// The response of a server that rejects the call before a handler sees it.
  Reply rejected(const HttpCall& call, const Problem& problem) const;
  Reply get(const std::string& target) const { return send({"GET", target, {}, {}}); }
  Reply post(const std::string& target, const Json& body) const {
    return send({"POST", target, {}, body.dump()});
  }
  Reply put(const std::string& target, const Json& body) const {
    return send({"PUT", target, {}, body.dump()});
  }
  /// Sends JSON text unchanged, for amounts as numbers and for invalid bodies.
  Reply post_text(const std::string& target, const std::string& body) const {
    return send({"POST", target, {}, body});
  }

  // What tests do all the time; each fails the test when it does not work -------------------------

  /// ID of a new own wallet, funded by the sandbox route unless `amount` is empty.
  std::string wallet(const std::string& asset, const std::string& amount = {}) const;
  /// ID of a third party's wallet; `last_name` selects the result of the sandbox's review.
  std::string third_party_wallet(const std::string& asset,
                                 const std::string& last_name = "Wanjiku") const;
  void trustline(const std::string& wallet, const std::string& asset) const;
  void fund(const std::string& wallet, const std::string& asset, const std::string& amount) const;
  /// Submits, expects 202 and returns the record ID.
  std::string pay(const std::string& target, const Json& body) const;
  /// Like pay(), for p2p/own.
  std::string transfer(const std::string& from, const std::string& to, const std::string& amount,
                       const std::string& asset = "USDC") const;
  /// The record of a payment.
  Json record(const std::string& id) const;
  std::string status(const std::string& id) const { return record(id).at("status"); }
  /// `balance/available/held` of a wallet in an asset.
  std::string funds(const std::string& wallet, const std::string& asset) const;
  std::string balance(const std::string& wallet, const std::string& asset) const;
  /// All pages of a list, joined.
  std::vector<Json> all(const std::string& target) const;

 private:
  Json balances(const std::string& wallet, const std::string& asset) const;

  TestApp* app_;
  Credentials credentials_;
  const HeaderList& headers_for(std::string_view target) const;

  HeaderList headers_;
  HeaderList connect_headers_;
  bool wire_ = false;
};

// Bodies -----------------------------------------------------------------------------------------

/// A transactionId that is unique in this process.
std::string fresh_transaction_id();
Json transfer_body(const std::string& from, const std::string& to, const std::string& amount,
                   const std::string& asset = "USDC");
Json swap_body(const std::string& from, const std::string& to, const std::string& amount,
               const std::string& sell, const std::string& buy);
/// `legs` are transfer bodies; their transactionIds are omitted.
Json multi_body(const std::vector<Json>& legs);
Json person(const std::string& last_name = "Wanjiku");
Json business(const std::string& company_name = "Kahawa Ltd");

/// The values of one member along an array of objects.
std::vector<std::string> member_of_each(const std::vector<Json>& rows, const char* name);

}  // namespace coffer::test
