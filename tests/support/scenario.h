// Cases as data: a row is one request and its expected response.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/client.h"

namespace coffer::test {

struct Scenario {
  std::string name;
  std::string target;
  std::string body;  // JSON text; empty: none
  int status = 200;
  std::string slug = {};                   // of the problem; empty: not checked
  std::vector<std::string> fields = {};    // exactly these, in any order, in `errors`
  std::vector<std::string> contains = {};  // somewhere in the body
  std::string method = "POST";
};

/// The values of `$name` in a target or a body. `$new` is always a fresh transactionId.
using Names = std::map<std::string, std::string>;

std::string filled(std::string text, const Names& names);

/// Sends every row as `client` and checks its response; a failed row does not stop the others.
void run_scenarios(const Client& client, const std::vector<Scenario>& rows,
                   const Names& names = {});

/// One row; returns its response for further checks.
Reply run_scenario(const Client& client, const Scenario& row, const Names& names = {});

}  // namespace coffer::test
