// A valid request for every row of the route table, from which families of tests are generated. A
// new route needs no change here, except for a new path parameter, request schema or required query
// parameter: then the generated tests report what is missing.
#pragma once

#include "api/pipeline/routes.h"
#include "support/scenario.h"
#include "support/test_app.h"

namespace coffer::test {

/// Objects of one tenant that requests refer to: `wallet`, `second` (own, verified, USDC and EURC),
/// `pending` (a third party's), `record` (a payment), `association`, `beneficiary` with its
/// `destination`, `quote`, `application`, `webhook` with a `delivery` in progress and its `event`,
/// `goneWebhook` with a failed `goneDelivery`, its `connector`, and the client's credentials.
Names belongings_of(TestApp& app, const Client& client);
/// Target and body with `$names` still in them.
struct Sample {
  std::string method;
  std::string target;
  std::string body;
  HeaderList headers = {};  // Content-Type, unless the body is JSON

  HttpCall call(const Names& names) const {
    return {method, filled(target, names), headers, filled(body, names)};
  }
  bool refers_to(const std::string& name) const;
};

/// Another `webhook`, if the request disables it.
void add_webhook(const Client& client, Names& names, const Sample& sample);

/// Beneficiaries to pay (`toAddress`, `toEurc`, `recipient`), connectors (`payouts`, `collections`,
/// `bespoke`, `provider`), unused quotes (`cashQuote`, `collectQuote`), an off-ramp that is pending
/// at its provider (`stuck`), and a new `reference`, `customer` and `arrival`.
void add_payment_samples(TestApp& app, const Client& client, Names& names);
/// Renews those that `sample` uses up.
void add_fresh_payment_samples(TestApp& app, const Client& client, Names& names,
                               const Sample& sample);
/// `collections` and `bespoke` with a provider at this address.
void add_late_providers(TestApp& app, const std::string& url, Names& names);
/// A reference as issued by `provider` to `wallet`. No server listens at the provider's address.
void issue_reference(TestApp& app, const Names& names, const std::string& reference);
/// A signed callback from `provider`.
HttpCall signed_callback(TestApp& app, const Names& names, const std::string& body);
/// Issues the reference, and returns the callback that reports a payment on it.
HttpCall payment_on_reference(TestApp& app, const Names& names, const std::string& reference,
                              const std::string& amount);
/// Another `beneficiary` and `destination`, for requests that archive them.
void add_beneficiary(const Client& client, Names& names);
/// Another `quote` of `connector`, for requests that end it.
void add_quote(const Client& client, Names& names);
/// The same names for objects that do not exist.
Names nobodys_belongings(TestApp& app);
/// Names of objects that belong to a tenant, whose existence another tenant must not discover.
const std::vector<std::string>& owned_names();

/// A request that gets the first success that the route declares. For a new kind of route, throws
/// InternalError with the required addition to route_samples.cpp.
Sample sample_of(const api::Route& route);

/// `target` with one more query parameter.
std::string with_query(const std::string& target, const std::string& parameter);

}  // namespace coffer::test
