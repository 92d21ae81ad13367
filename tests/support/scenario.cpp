#include "support/scenario.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/check.h"

namespace coffer::test {
namespace {

void replace_all(std::string& text, const std::string& mark, const std::string& value) {
  for (auto at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + value.size())) {
    text.replace(at, mark.size(), value);
  }
}

std::vector<std::string> sorted(std::vector<std::string> list) {
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace

std::string filled(std::string text, const Names& names) {
  if (text.find("$new") != std::string::npos) replace_all(text, "$new", fresh_transaction_id());
  // Backwards, so that $usdc does not replace the start of $usdc2.
  for (auto it = names.rbegin(); it != names.rend(); ++it) {
    replace_all(text, "$" + it->first, it->second);
  }
  if (text.find('$') != std::string::npos) throw InternalError("no such name in " + text);
  return text;
}

Reply run_scenario(const Client& client, const Scenario& row, const Names& names) {
  const HttpCall call{row.method, filled(row.target, names), {}, filled(row.body, names)};
  const Reply reply = client.send(call);
  INFO(row.name << ": " << call.method << " " << call.target << " " << call.body.substr(0, 2000));
  INFO(reply.text().substr(0, 4000));
  CHECK(reply.status == row.status);
  if (!row.slug.empty()) CHECK(reply.slug() == row.slug);
  if (!row.fields.empty()) CHECK(sorted(reply.fields()) == sorted(row.fields));
  for (const std::string& part : row.contains) {
    CHECK_THAT(reply.body, Catch::Matchers::Contains(part));
  }
  return reply;
}

void run_scenarios(const Client& client, const std::vector<Scenario>& rows, const Names& names) {
  for (const Scenario& row : rows) run_scenario(client, row, names);
}

}  // namespace coffer::test
