// A good request for every row of the route table, so that whole families of tests can be generated
// from it. A new route needs nothing here unless it brings a new path parameter, a new request schema
// or a required query parameter: then the generated tests say what is missing.
#pragma once

#include "api/routes.h"
#include "support/scenario.h"
#include "support/test_app.h"

namespace coffer::test {

/// Things of one tenant that requests refer to: `wallet`, `second` (own, verified, USDC and EURC),
/// `pending` (a third party's), `record` (a payment), `association`, and the client's credentials.
Names belongings_of(TestApp& app, const Client& client);
/// The same names for things that nobody has.
Names nobodys_belongings(TestApp& app);
/// Names of things that belong to a tenant: another tenant must not find out that they exist.
const std::vector<std::string>& owned_names();

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

/// Answered with the first success that the route declares. Throws InternalError naming what to add
/// to route_samples.cpp for a route that is new in kind.
Sample sample_of(const api::Route& route);

/// `target` with one more query parameter.
std::string with_query(const std::string& target, const std::string& parameter);

}  // namespace coffer::test
