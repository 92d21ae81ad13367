// A good request for every row of the route table, so that whole families of tests can be generated
// from it. A new route needs nothing here unless it brings a new path parameter, a new request
// schema or a required query parameter: then the generated tests say what is missing.
#pragma once

#include "api/routes.h"
#include "support/scenario.h"
#include "support/test_app.h"

namespace coffer::test {

/// Things of one tenant that requests refer to: `wallet`, `second` (own, verified, USDC and EURC),
/// `pending` (a third party's), `record` (a payment), `association`, `beneficiary` with its
/// `destination`, `quote`, `application`, `webhook` with a `delivery` in progress and its `event`,
/// `goneWebhook` with a dead `goneDelivery`, the `connector` of it, and the client's credentials.
Names belongings_of(TestApp& app, const Client& client);
/// Target and body with `$names` still in them.
struct Sample {
  std::string method;
  std::string target;
  std::string body;

  HttpCall call(const Names& names) const {
    return {method, filled(target, names), {}, filled(body, names)};
  }
  bool refers_to(const std::string& name) const;
};

/// Another `webhook`, when the request disables what it gets.
void add_webhook(const Client& client, Names& names, const Sample& sample);

/// Beneficiaries to pay (`toAddress`, `toEurc`, `recipient`), connectors (`payouts`, `collections`,
/// `bespoke`, `provider`), quotes that are good once (`cashQuote`, `collectQuote`), a cash-out that
/// waits at its provider (`stuck`), a `reference`, a `customer` and an `arrival` that are new.
void add_payment_samples(TestApp& app, const Client& client, Names& names);
/// Those of them that are used up by `sample`, again.
void add_fresh_payment_samples(TestApp& app, const Client& client, Names& names,
                               const Sample& sample);
/// `collections` and `bespoke` at a provider that is at this address.
void add_late_providers(TestApp& app, const std::string& url, Names& names);
/// As if `provider` had issued it to `wallet`; there is no server at its address.
void issue_reference(TestApp& app, const Names& names, const std::string& reference);
/// News from `provider`, signed.
HttpCall signed_callback(TestApp& app, const Names& names, const std::string& body);
/// Another `beneficiary` and `destination`, for requests that archive what they get.
void add_beneficiary(const Client& client, Names& names);
/// Another `quote` of `connector`, for requests that end what they get.
void add_quote(const Client& client, Names& names);
/// The same names for objects that do not exist.
Names nobodys_belongings(TestApp& app);
/// Names of things that belong to a tenant: another tenant must not find out that they exist.
const std::vector<std::string>& owned_names();

/// Answered with the first success that the route declares. Throws InternalError naming what to add
/// to route_samples.cpp for a route that is new in kind.
Sample sample_of(const api::Route& route);

/// `target` with one more query parameter.
std::string with_query(const std::string& target, const std::string& parameter);

}  // namespace coffer::test
